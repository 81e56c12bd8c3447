start_theme();
start_tables();
start_tips();
start_pictures();
