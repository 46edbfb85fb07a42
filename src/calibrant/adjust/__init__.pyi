from calibrant.adjust.prior import PriorEstimate as PriorEstimate
from calibrant.adjust.prior import adjust_prior as adjust_prior
from calibrant.adjust.prior import adjust_sampling as adjust_sampling
from calibrant.adjust.prior import anchor as anchor
from calibrant.adjust.prior import estimate_prior as estimate_prior
from calibrant.adjust.update_choice import Update as Update
from calibrant.adjust.update_choice import UpdateChoice as UpdateChoice
from calibrant.adjust.update_choice import choose_update as choose_update
