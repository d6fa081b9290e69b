'use strict';
// The object `tools` of cells: tools of MCP servers as functions, `await tools.github.search({ query: '...' })`.

const net = require('net');
const util = require('util');

class ToolError extends Error {
  constructor(message) {
    super(message);
    this.name = 'ToolError';
  }
}

const open = new Set();

/** Make `tools` a name that every cell knows; `path` is the socket of the application. */
function give(path) {
  const ask = (request) => new Promise((resolve, reject) => {
    const connection = net.connect(path);
    const pieces = [];
    open.add(connection);
    connection.on('connect', () => connection.write(`${request}\n`));
    connection.on('data', (piece) => pieces.push(piece));
    connection.on('error', (error) => reject(new ToolError(`oi-tui cannot be reached (${error.code}).`)));
    connection.on('close', () => {
      open.delete(connection);
      try {
        const answer = JSON.parse(Buffer.concat(pieces).toString());
        if (answer.error !== undefined) reject(new ToolError(answer.error));
        else resolve(answer.result);
      } catch {
        reject(new ToolError('The call ended before the tool answered.'));
      }
    });
  });
  const list = () => ask(JSON.stringify({ list: true }));
  const call = async (server, tool, given) => {
    const plain = given.length === 0 || (given.length === 1 && util.types.isProxy(given[0]) === false && isObject(given[0]));
    if (!plain) throw new TypeError('give the arguments as one object');
    let request;
    try {
      request = JSON.stringify({ server, tool, arguments: given[0] || {} });
    } catch (error) {
      throw new TypeError(`arguments of a tool must be values of JSON: ${error.message}`);
    }
    return valueOf(await ask(request));
  };
  const value = named(list, 'tools: await tools() lists them', (server) =>
    named(() => list().then((all) => all.filter((item) => item.server === server)), `tools.${server}`, (tool) =>
      named((...given) => call(server, tool, given), `tools.${server}.${tool}`, () => undefined)));
  Object.defineProperty(globalThis, 'tools', { value, configurable: true, writable: true, enumerable: false });
}

/** End the calls that a stopped run waits for. */
function end() {
  for (const connection of open) connection.destroy();
}

// A function whose properties are made by their names. Awaiting one must not look like calling a tool.
function named(act, shown, inner) {
  const target = (...given) => act(...given);
  target[util.inspect.custom] = () => `[${shown}]`;
  return new Proxy(target, {
    get: (_, name) => {
      if (typeof name === 'symbol' || name === 'then' || name in Function.prototype) return target[name];
      return inner(name);
    },
  });
}

function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

// The result as an object: its data, or its texts, read as JSON where they are.
function valueOf(result) {
  const blocks = (result.content || []).map(block);
  if (result.isError) throw new ToolError(blocks.map(String).join('\n') || 'The tool failed.');
  const data = result.structuredContent;
  // Servers put a value that is no object into one with this single key.
  if (data !== undefined) return isObject(data) && Object.keys(data).join() === 'result' ? data.result : data;
  return blocks.length === 1 ? blocks[0] : blocks;
}

function block(item) {
  if (item.type === 'text') {
    try {
      return /^\s*[[{]/.test(item.text) ? JSON.parse(item.text) : item.text;
    } catch {
      return item.text;
    }
  }
  if (item.type === 'image' || item.type === 'audio') return Buffer.from(item.data || '', 'base64');
  return item.resource || item;
}

module.exports = { give, end };
