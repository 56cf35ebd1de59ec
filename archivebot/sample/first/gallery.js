// Notes that scripts run, and changes nothing that is seen.
document.documentElement.dataset.scripts = "run";
