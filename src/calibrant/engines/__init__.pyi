from calibrant.engines.file_apply import apply_file as apply_file
from calibrant.engines.tables import open_table as open_table
from calibrant.engines.tally_files import load as load
from calibrant.engines.tally_files import merge as merge
from calibrant.engines.tally_files import save as save
from calibrant.engines.tally_table import tally as tally
