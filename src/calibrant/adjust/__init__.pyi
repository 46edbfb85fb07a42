from calibrant.adjust.shifts import adjust_prior as adjust_prior
from calibrant.adjust.shifts import adjust_sampling as adjust_sampling
from calibrant.adjust.shifts import anchor as anchor
from calibrant.adjust.unknown_prior import PriorEstimate as PriorEstimate
from calibrant.adjust.unknown_prior import estimate_prior as estimate_prior
from calibrant.adjust.update_choice import Update as Update
from calibrant.adjust.update_choice import UpdateChoice as UpdateChoice
from calibrant.adjust.update_choice import choose_update as choose_update
