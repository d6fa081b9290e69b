// The driver inside Deno. Its worker evaluates cells through the inspector (REPL semantics: await at top level, const
// that can be declared again), asks for the running line, and interrupts.

import fs from 'node:fs';
import inspector from 'node:inspector';
import { createRequire } from 'node:module';
import process from 'node:process';
import { Worker } from 'node:worker_threads';

const require = createRequire(import.meta.url);
const { Interrupted, Problem, serve } = require('./javascript_session.js');
const { rewriteImports } = require('./javascript_imports.js');
const { stripTypes } = require('./javascript_types.js');
const { locate } = require('./javascript_line.js');
const { watch } = require('./javascript_variables.js');

const { setTimeout: later, clearTimeout: endLater } = globalThis;
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

// The workers that the run has started, and the names of the threads of those that keep no script alive. Nothing tells of
// a worker that closes itself, but its thread is there no more. Where threads cannot be listed, no cell waits for workers.
const begun = new Set();
const released = new Set();
const TASKS = '/proc/self/task';
const threads = () => {
  try {
    return fs.readdirSync(TASKS);
  } catch {
    return [];
  }
};
const nameOf = (thread) => {
  try {
    return fs.readFileSync(`${TASKS}/${thread}/comm`, 'utf8').trim();
  } catch {
    return '';
  }
};
const mainName = nameOf(process.pid);
const clock = performance.now.bind(performance);
const { ref, unref } = Worker.prototype;
Object.assign(Worker.prototype, {
  ref() {
    released.delete(`worker-${this.threadId}`);
    return ref.call(this);
  },
  unref() {
    released.add(`worker-${this.threadId}`);
    return unref.call(this);
  },
});
globalThis.Worker = new Proxy(globalThis.Worker, {
  construct(target, given, made) {
    const started = Reflect.construct(target, given, made);
    begun.add(started);
    return started;
  },
});

// Made now, so that it is not one of the things that a run begins and waits for.
const { stdin } = process;

let asked = 0;
const answers = new Map();
const ask = (question) =>
  new Promise((resolve) => {
    answers.set(++asked, resolve);
    worker.postMessage({ ...question, asked });
  });

// The line of the run's own cell that runs, or 0. The worker asks while the program runs.
let locateRun = () => 0;

// The run whose code was evaluated last.
let evaluated = null;

async function evaluate(run, place) {
  evaluated = run;
  before = busy();
  begun.clear();
  released.clear();
  oldThreads = new Set(threads());
  const { code, place: origin, problem, line } = stripTypes(run.source);
  if (problem) {
    const [, where] = /stripTypeScriptTypes\.ts:(\d+)/.exec(problem) || [];
    throw new Problem(`SyntaxError: ${problem.replace(/^(?:SyntaxError: )+/, '').split('\n')[0]}`, Number(where) || line);
  }
  // While the inspector evaluates code, it calls no callbacks. So the cell first awaits, which lets the evaluation return.
  const first = 'await __oi.turn(); ';
  place((row, column) => origin(row, row === 1 ? Math.max(1, column - first.length) : column));
  locateRun = () => {
    const found = locate(run.url);
    return found ? origin(...found)[0] : 0;
  };
  const source = `${first}${rewriteImports(code)}\n//# sourceURL=${run.url}`;
  const { interrupted, syntax, line: wrong, error, value } = await ask({ evaluate: source, nonce: run.nonce });
  if (interrupted) throw new Interrupted();
  if (syntax) throw new Problem(syntax, origin(wrong, 1)[0]);
  if (error) throw value;
  return value;
}

// Terminating code drops all pending microtasks, also the driver's own reading of messages, which takes some of them.
// So a cell starts only after earlier microtasks have run.
async function afterOthers() {
  for (let turn = 0; turn < 30; turn++) await null;
}

// The objects that answers are about, by the number of the question. The inspector hands them over, messages cannot.
const held = new Map();

// With an inspector attached, an event loop that has become empty cannot be used again. So count what keeps it busy.
const busy = () => process.getActiveResourcesInfo().filter((name) => /Pipe|TCP|ChildProcess/.test(name) && !/Server/.test(name)).length;
const isAwaited = (name) => name.startsWith('worker-') && !released.has(name);
// Until it runs, a new thread has the name of the one that began it. It may become a worker, but need not: so long is
// that waited for, in milliseconds.
const STARTING = 1000;
// The thread of a worker ends before its last events have been told: they come within so many looks.
const ENDING = 4;
const isWorking = (since) => threads().filter((thread) => !oldThreads.has(thread)).map(nameOf)
  .some((name) => isAwaited(name) || (name === mainName && clock() - since < STARTING));
async function rest(areTimersOver) {
  const since = clock();
  let looks = 0;
  const areWorkersOver = () => (looks = isWorking(since) ? ENDING : Math.max(looks - 1, 0)) === 0;
  while (!areTimersOver() || busy() > before || stdin.readableFlowing || !areWorkersOver()) {
    await new Promise((resolve) => later(resolve, 15));
  }
}
let before = 0;
let oldThreads = new Set();

// Tells listeners of an error that nothing caught, and whether one of the program's took it. Deno's own listener, which
// calls those of `process`, takes it as well.
const { ErrorEvent, dispatchEvent } = globalThis;
const spell = (error) => {
  try {
    return `Uncaught ${String(error)}`;
  } catch {
    return 'Uncaught';
  }
};
const report = (error, isOursCalled) => {
  const event = new ErrorEvent('error', { error, message: spell(error), cancelable: true });
  let taken = 0;
  event.preventDefault = () => taken++;
  dispatchEvent.call(globalThis, event);
  return taken > (isOursCalled() ? 1 : 0);
};

async function remember(question, name) {
  const { names } = await ask({ names: true });
  const { value: getters = [] } = await ask({ reach: names });
  reachable = new Map(names.map((name, at) => [name, getters[at]]));
  return memory[question](name);
}

const { leave, send, endTimers } = serve({
  folder,
  worker,
  evaluate,
  importer: (name, options) => import(name, options),
  inspect: (value) => Deno.inspect(value),
  rest,
  // What ends between two turns of the event loop ends Deno with it, and so would a function that a timer calls.
  call: (act, fail) => void afterOthers().then(act).catch(fail),
  report,
  endThreads: () => begun.forEach((started) => started.terminate()),
  memory: remember,
  tables: (value) => (Array.isArray(value) ? remember('shown', value) : null),
});
Deno.exit = leave;

// Deno watches its terminal for reading and writing in one, so nobody outside sees whether a program reads `stdin`. This
// tells, a moment later, so that the question is printed. Whoever reads on after an answer asks again.
function tellReading(handle) {
  const { readStart, readStop, onread } = handle;
  let telling;
  let isTold = false;
  const begin = () => {
    if (isTold || telling !== undefined) return;
    telling = later(() => {
      telling = undefined;
      isTold = true;
      send({ event: 'input' }, true);
    }, 40);
  };
  const end = () => {
    endLater(telling);
    telling = undefined;
    if (isTold) send({ event: 'input_end' }, true);
    isTold = false;
  };
  handle.readStart = () => {
    begin();
    return readStart.call(handle);
  };
  handle.readStop = () => {
    end();
    return readStop.call(handle);
  };
  handle.onread = (...given) => {
    end();
    onread.apply(handle, given);
    if (handle.reading) begin();
  };
}
tellReading(stdin._handle);
// What the worker has the inspector call. A turn of the event loop is needed: the inspector is at work in this one.
Object.assign(globalThis.__oi, {
  locate: () => locateRun(),
  endTimers,
  endTicks: () => {
    areTicksDropped = true;
    later(() => {
      areTicksDropped = false;
    }, 0);
  },
  turn: () =>
    new Promise((resolve) => {
      const run = evaluated;
      later(() => {
        // Code of a run that was interrupted meanwhile would run on when the run is over.
        if (run.isOver) return;
        worker.postMessage({ turned: true });
        afterOthers().then(resolve);
      }, 0);
    }),
  hold: (number, value) => void held.set(number, value),
});
// The names of let, const and class when that was asked last, each with a function that gives its value.
let reachable = new Map();
const memory = watch({ language: 'deno', lexical: () => [...reachable.keys()], reach: (names) => names.map((name) => reachable.get(name)) });
worker.on('message', (message) => {
  if (message.answered) {
    const resolve = answers.get(message.answered);
    answers.delete(message.answered);
    const value = held.has(message.answered) ? held.get(message.answered) : message.answer.value;
    held.delete(message.answered);
    resolve({ ...message.answer, value });
  } else if (message.ping) worker.postMessage({ pong: message.ping });
});
worker.on('exit', () => leaveProcess(0));
