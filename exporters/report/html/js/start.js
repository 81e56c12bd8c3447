start_theme();
start_address();
start_tables();
start_menus();
start_tips();
start_glossary();
start_pictures();
start_workbench();
