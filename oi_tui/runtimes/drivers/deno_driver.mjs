// The driver inside Deno. Its worker evaluates cells through the inspector (REPL semantics: await at top level, const
// that can be declared again), looks at the running line by short pauses, and interrupts.

import inspector from 'node:inspector';
import { createRequire } from 'node:module';
import process from 'node:process';
import { Worker } from 'node:worker_threads';

const require = createRequire(import.meta.url);
const { Interrupted, Problem, serve } = require('./javascript_session.js');
const { rewriteImports } = require('./javascript_imports.js');
const { stripTypes } = require('./javascript_types.js');
const { watch } = require('./javascript_variables.js');

const { setTimeout: later } = globalThis;
const { Promise } = globalThis;
const [folder] = Deno.args;
const leaveProcess = Deno.exit;
const worker = new Worker(new URL('./deno_worker.mjs', import.meta.url), { workerData: { folder, inspector: inspector.url() } });

// A server serves on between cells, and no cell waits for it.
const { serve: serveHttp } = Deno;
Deno.serve = (...given) => {
  const server = serveHttp(...given);
  server.unref();
  return server;
};

// Callbacks of `process.nextTick` that ask for each other again and again leave no turn to anything else. They cannot be
// terminated, so those of an interrupted run are dropped, until there is another turn.
const { nextTick } = process;
let areTicksDropped = false;
process.nextTick = (...given) => {
  if (!areTicksDropped) nextTick.apply(process, given);
};

// Deno leaves out the names of scripts that have no file.
Error.prepareStackTrace = (error, frames) => {
  const lines = frames.map((frame) => {
    const name = frame.getFileName() ? '' : frame.getScriptNameOrSourceURL();
    return `\n    at ${name ? `${frame}`.replace('<anonymous>:', `${name}:`) : frame}`;
  });
  return `${error}${lines.join('')}`;
};

let asked = 0;
const answers = new Map();
const ask = (question) =>
  new Promise((resolve) => {
    answers.set(++asked, resolve);
    worker.postMessage({ ...question, asked });
  });

async function evaluate(run, place) {
  before = busy();
  const { code, place: origin, problem, line } = stripTypes(run.source);
  if (problem) {
    const [, where] = /stripTypeScriptTypes\.ts:(\d+)/.exec(problem) || [];
    throw new Problem(`SyntaxError: ${problem.replace(/^(?:SyntaxError: )+/, '').split('\n')[0]}`, Number(where) || line);
  }
  // While the inspector evaluates code, it calls no callbacks. So the cell first awaits, which lets the evaluation return.
  const first = 'await __oi.turn(); ';
  place((row, column) => origin(row, row === 1 ? Math.max(1, column - first.length) : column));
  const source = `${first}${rewriteImports(code)}\n//# sourceURL=${run.url}`;
  const { interrupted, syntax, line: wrong, error, thrown, value, taken } = await ask({ evaluate: source, nonce: run.nonce });
  if (interrupted) throw new Interrupted();
  if (syntax) throw new Problem(syntax, origin(wrong, 1)[0]);
  if (taken) return take();
  if (error) throw held === undefined ? thrown : take();
  return value;
}

// Terminating code drops all pending microtasks, also the driver's own reading of messages, which takes some of them.
// So a cell starts only after earlier microtasks have run.
async function afterOthers() {
  for (let turn = 0; turn < 30; turn++) await null;
}

let held;
const take = () => {
  const value = held;
  held = undefined;
  return value;
};

// With an inspector attached, an event loop that has become empty cannot be used again. So count what keeps it busy.
const busy = () => process.getActiveResourcesInfo().filter((name) => /Pipe|TCP|ChildProcess/.test(name) && !/Server/.test(name)).length;
async function rest(areTimersOver) {
  while (!areTimersOver() || busy() > before || process.stdin.readableFlowing) {
    await new Promise((resolve) => later(resolve, 15));
  }
}
let before = 0;

async function remember(question, name) {
  const { names } = await ask({ names: true });
  await ask({ reach: names });
  const getters = take() || [];
  reachable = new Map(names.map((name, at) => [name, getters[at]]));
  return memory[question](name);
}

const { leave, endTimers } = serve({
  folder,
  worker,
  evaluate,
  importer: (name, options) => import(name, options),
  inspect: (value) => Deno.inspect(value),
  rest,
  // What ends between two turns of the event loop ends Deno with it, and so would a function that a timer calls.
  call: (act, fail) => void afterOthers().then(act).catch(fail),
  memory: remember,
  tables: (value) => (Array.isArray(value) ? remember('shown', value) : null),
});
Deno.exit = leave;
// What the worker has the inspector call. A turn of the event loop is needed: the inspector is at work in this one.
Object.assign(globalThis.__oi, {
  endTimers,
  endTicks: () => {
    areTicksDropped = true;
    later(() => {
      areTicksDropped = false;
    }, 0);
  },
  turn: () =>
    new Promise((resolve) => {
      later(() => {
        worker.postMessage({ turned: true });
        afterOthers().then(resolve);
      }, 0);
    }),
  hold: (value) => {
    held = value;
  },
});
// The names of let, const and class when that was asked last, each with a function that gives its value.
let reachable = new Map();
const memory = watch({ language: 'deno', lexical: () => [...reachable.keys()], reach: (names) => names.map((name) => reachable.get(name)) });
worker.on('message', (message) => {
  if (message.answered) {
    const resolve = answers.get(message.answered);
    answers.delete(message.answered);
    resolve(message.answer);
  } else if (message.ping) worker.postMessage({ pong: message.ping });
});
worker.on('exit', () => leaveProcess(0));
