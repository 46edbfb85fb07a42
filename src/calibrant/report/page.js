(() => {
  "use strict";
  const root = document.documentElement;
  const all = (selector) => [...document.querySelectorAll(selector)];
  const say = (text) => { document.getElementById("status").textContent = text; };
  const hideTip = figureTips(say);

  function press(buttons, test) {
    for (const button of buttons) button.setAttribute("aria-pressed", String(test(button)));
  }

  const scaleButtons = all("button[data-scale]");
  for (const button of scaleButtons) {
    button.addEventListener("click", () => {
      root.dataset.scale = button.dataset.scale;
      press(scaleButtons, (one) => one === button);
      hideTip();
    });
  }

  const methodButtons = all("button[data-method]");
  const everything = document.getElementById("all-methods");
  let methods = new Set(methodButtons.filter((button) => button.getAttribute("aria-pressed") === "true").map((button) => button.dataset.method));
  const atFirst = [...methods];
  function setMethods(names) {
    methods = new Set(names);
    press(methodButtons, (button) => methods.has(button.dataset.method));
    for (const line of all("[data-method]:not(button)")) line.toggleAttribute("hidden", !methods.has(line.dataset.method));
    if (everything) everything.textContent = methods.size === methodButtons.length ? "Show one map" : "Show all maps";
    hideTip();
  }
  for (const button of methodButtons) {
    button.addEventListener("click", () => {
      const name = button.dataset.method, names = new Set(methods);
      if (!names.delete(name)) names.add(name);
      setMethods(names);
    });
  }
  if (everything) {
    everything.addEventListener("click", () => {
      setMethods(methods.size === methodButtons.length ? atFirst : methodButtons.map((button) => button.dataset.method));
    });
  }

  const select = document.getElementById("segment");
  function chooseSegment() {
    all("figure.segment").forEach((figure, place) => { figure.hidden = place !== select.selectedIndex; });
    hideTip();
  }
  if (select) {
    select.addEventListener("change", () => {
      chooseSegment();
      say(`The diagram shows ${select.selectedOptions[0].textContent}.`);
    });
    chooseSegment(); // a browser may have kept the choice of the last visit
  }

  const themeButton = document.getElementById("theme");
  function setTheme(name) {
    root.dataset.theme = name;
    themeButton.textContent = name === "dark" ? "Light theme" : "Dark theme";
  }
  themeButton.addEventListener("click", () => setTheme(root.dataset.theme === "dark" ? "light" : "dark"));
  let printing = false; // which changes what the page believes to be preferred
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (event) => { if (!printing) setTheme(event.matches ? "dark" : "light"); });

  addEventListener("beforeprint", () => {
    printing = true;
    hideTip();
    for (const details of all("#about details, #segments details:not(.numbers)")) details.open = true;
  });
  addEventListener("afterprint", () => { printing = false; });

  for (const button of all("button[data-copy]")) {
    button.addEventListener("click", async () => {
      const pre = document.getElementById(button.dataset.copy);
      try {
        await navigator.clipboard.writeText(pre.textContent);
        say("Copied.");
        button.textContent = "Copied";
        setTimeout(() => { button.textContent = "Copy"; }, 1500);
      } catch {
        getSelection().selectAllChildren(pre);
        say("The code is selected; copy it with the keyboard.");
      }
    });
  }

  setTheme(root.dataset.theme);
  root.dataset.ready = "true";
})();
