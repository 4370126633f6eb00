"""What of the machine a run may use."""

import os

WORKERS = min(os.cpu_count() or 1, 4)  # processes for what can be split; results do not depend on how many
