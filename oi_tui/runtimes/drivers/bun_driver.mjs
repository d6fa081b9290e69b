// The driver inside Bun. Bun's own transpiler makes of a cell a script whose variables stay, as it does for `bun repl`;
// SIGINT ends the script while it computes, and what only waits is left behind.

import { drainMicrotasks } from 'bun:jsc';
import { createRequire } from 'node:module';
import util from 'node:util';
import vm from 'node:vm';
import { Worker } from 'node:worker_threads';

const require = createRequire(import.meta.url);
const { Interrupted, Problem, serve } = require('./javascript_session.js');
const { rewriteImports } = require('./javascript_imports.js');
const { between } = require('./bun_lines.js');
const { watch } = require('./javascript_variables.js');

const folder = process.argv[2];
const leaveProcess = process.exit;
const options = { loader: 'ts', deadCodeElimination: false, inline: false, trimUnusedImports: false };
const transpiler = new Bun.Transpiler({ ...options, replMode: true });
const printer = new Bun.Transpiler(options);
const going = new vm.Script('__oi.drain()');
// As long as Bun may take to hear of a signal, in milliseconds.
const waiting = new vm.Script('for (const end = __oi.now() + 50; __oi.now() < end;);');
const calling = new vm.Script('__oi.act()');
// The number of the run that is under way, or 0, and whether it is interrupted.
const running = new Int32Array(new SharedArrayBuffer(8));
const worker = new Worker(new URL('./bun_requests.mjs', import.meta.url), { workerData: { folder, running } });

// Callbacks of `process.nextTick` that ask for each other again and again leave no turn to anything else. Where nothing
// can end them, those of an interrupted run are dropped, until there is another turn.
const { nextTick } = process;
const { setTimeout: later } = globalThis;
process.nextTick = (...given) => {
  if (!Atomics.load(running, 1)) nextTick.apply(process, given);
};

// A server serves on between cells, and no cell waits for it.
const { serve: serveHttp } = Bun;
Bun.serve = (...given) => {
  const server = serveHttp(...given);
  server.unref();
  return server;
};

function scriptOf(source) {
  try {
    return rewriteImports(transpiler.transformSync(source));
  } catch (error) {
    const [first] = error.errors?.length ? error.errors : [error];
    throw new Problem(`SyntaxError: ${first.message}`, first.position?.line || 1);
  }
}

// Whether the signal of an interrupt has ended code of this run.
let heard = false;

function interruptible(script) {
  try {
    return script.runInThisContext({ breakOnSigint: true });
  } catch (error) {
    if (error?.code !== 'ERR_SCRIPT_EXECUTION_INTERRUPTED') throw error;
    heard = true;
    throw new Interrupted();
  }
}

// Run a script, and what goes on at once where it waited, so that SIGINT ends it. What had to wait goes on also where the
// script itself was ended: left to the event loop, nothing would end it any more.
function runScript(script) {
  try {
    return interruptible(script);
  } finally {
    interruptible(going);
  }
}

function call(act, fail) {
  globalThis.__oi.act = act;
  try {
    runScript(calling);
  } catch (error) {
    fail(error);
  }
}

// Bun prints an error with lines of what it made of a cell, and with our own calls, unless the stack was read before.
function readStacks(value, deep = 0) {
  if (deep > 5) return;
  if (Array.isArray(value)) {
    for (const item of value.slice(0, 100)) readStacks(item, deep + 1);
  } else if (util.types.isNativeError(value)) {
    try {
      void value.stack;
      for (const name of ['cause', 'errors']) readStacks(Object.getOwnPropertyDescriptor(value, name)?.value, deep + 1);
    } catch {}
  }
}

for (const name of ['log', 'error', 'warn', 'info', 'debug']) {
  const print = console[name];
  console[name] = (...given) => {
    readStacks(given);
    return Reflect.apply(print, console, given);
  };
  Object.defineProperties(console[name], Object.getOwnPropertyDescriptors(print));
}
const { error: complain } = console;
console.trace = (...given) => {
  const made = {};
  Error.captureStackTrace(made, console.trace);
  complain((given.length ? `Trace: ${util.format(...given)}` : 'Trace') + String(made.stack).replace(/^[^\n]*/, ''));
};

// What cannot be found was looked for from here, which nobody needs to know.
async function importModule(name, options) {
  try {
    return await import(name, options);
  } catch (error) {
    if (!String(error?.message).includes(import.meta.path)) throw error;
    throw Object.assign(new Error(error.message.replace(` imported from ${import.meta.path}`, '')), { code: error.code });
  }
}

// Whether the last statement declares something: what it was given is no value of the cell. The printer begins
// statements, and what closes them, where a line begins.
function isDeclared(source) {
  const starts = printer.transformSync(source).match(/^[^\s)}\]].*/gm);
  return Boolean(starts) && /^(?:const|let|var|class|function|async function|import|export)\b/.test(starts[starts.length - 1]);
}

// Bun hears of a signal in a thread of its own. Where the code was over before that, the signal would end the next cell.
function settle() {
  later(() => Atomics.store(running, 1, 0), 0);
  try {
    if (!heard) interruptible(waiting);
  } catch {}
}

async function evaluate(run, place) {
  heard = false;
  Atomics.store(running, 1, 0);
  const code = scriptOf(run.source);
  place(between(run.source, code));
  const script = new vm.Script(code, { filename: run.url });
  const value = (await runScript(script))?.value;
  return isDeclared(run.source) ? undefined : value;
}

serve({
  folder,
  worker,
  evaluate,
  importer: importModule,
  inspect(value) {
    readStacks(value);
    return Bun.inspect(value);
  },
  memory: (question, name) => memory[question](name),
  tables: (value) => memory.shown(value),
  call,
  settle,
  running,
});
const { performance } = globalThis;
globalThis.__oi.drain = drainMicrotasks;
globalThis.__oi.now = () => performance.now();
// What is here by now is no variable of the program.
const memory = watch({ language: 'bun', lexical: () => [], reach: () => [] });
worker.on('exit', () => leaveProcess(0));
