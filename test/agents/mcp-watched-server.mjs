/**
 * Starts the MCP server whose module is named first; the port follows. By a connection to that
 * port the test knows of its life: it brings the process's id, and closes when the process ends.
 */
import { connect } from 'node:net';
import { pathToFileURL } from 'node:url';

const [module = '', port] = process.argv.splice(2, 2);
// What it tells of itself would stand among the results of the tests.
console.error = () => {};
connect(Number(port), '127.0.0.1').unref().write(`${process.pid}`);
await import(pathToFileURL(module).href);
