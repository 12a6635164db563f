/** Runs before anything is painted, so that no page shows in the wrong colours first. */
import { chosenTheme, showTheme } from './theme-choice.ts';

showTheme(chosenTheme());
