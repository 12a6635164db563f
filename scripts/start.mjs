/** Runs `holdfast` from a clone, after doing whatever set-up is missing: `node scripts/start.mjs serve --port 8080`. */
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import './set-up.mjs';

const main = path.join(path.dirname(import.meta.dirname), 'dist/cli/main.js');
process.argv[1] = main;
await import(pathToFileURL(main).href);
