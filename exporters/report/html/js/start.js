import { start_address } from "./address.js";
import { start_announcements } from "./dom.js";
import { start_glossary } from "./glossary.js";
import { start_menus } from "./menus.js";
import { start_pictures } from "./pictures.js";
import { start_tables } from "./tables.js";
import { start_theme } from "./theme.js";
import { start_tips } from "./tips.js";
import { start_workbench } from "./workbench.js";

start_announcements();
start_theme();
start_address();
start_tables();
start_menus();
start_tips();
start_glossary();
start_pictures();
start_workbench();
