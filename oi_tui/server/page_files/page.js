// The page of oi-tui --server. Text of models and programs only ever becomes text, never HTML of this page.
import { lines } from "./code.js";
import { render } from "./markdown.js";
import { makeNavigator } from "./navigator.js";
import { output } from "./output.js";
import { values } from "./table.js";

const byId = (id) => document.getElementById(id);
const LONGEST = 100_000; // characters of output that are shown while a program prints; its end brings both ends
const SCRIPT = /<script\b/i;
const UNKNOWN = 1008; // the server closes a connection with this code where it does not know the session
const ENDED = 4410; // and with this one when the session is ended
const GUARD = 400; // ms in which a tap that was meant for something else cannot answer a question

let token = takeToken();
// The session of the page. The browser keeps it with the entry of its history, also where it loads the page again.
let place = history.state || { session: "default" };
let socket = null;
let last = null; // the number of the newest event
let wait = 500;
let question = null;
let busy = false;
let isWaitingToSend = false;
let input = null; // what a program waits for
let sentWords = ""; // the message that no event has confirmed
let restoredWords = ""; // the same, once it stands in the prompt again
let sentInput = null; // what a program was answered that no event has confirmed
const conversations = makeNavigator({
  ask, open, session: () => place.session, mayAsk: () => token !== "", fail: (text) => note(text, "error"),
});
const shown = new Map(); // message id -> {message, element}

function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given) {
    sessionStorage.setItem("token", given);
    history.replaceState(history.state, "", location.pathname);
  }
  return given || sessionStorage.getItem("token") || "";
}

async function ask(path, options = {}) {
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  const response = await fetch(path, { ...options, headers });
  if (response.status === 401) login();
  return response;
}

function login() {
  token = "";
  sessionStorage.removeItem("token");
  closeQuestion();
  setInput(null);
  byId("login").hidden = false;
  byId("prompt").hidden = true;
  byId("token").focus();
  show("signed out");
}

// -- connection ---------------------------------------------------------------------------------

function connect() {
  if (!token) return login();
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  const after = last === null ? "" : `?after=${last}`;
  const made = new WebSocket(
    `${scheme}://${location.host}/v1/sessions/${place.session}/events${after}`,
    ["oi-tui", `oi-tui.token.${token}`],
  );
  socket = made;
  made.onopen = () => {
    wait = 500;
    setState();
    // What was sent into the old connection may be lost; the server takes only one answer.
    allowAnswers();
    restoreWords();
    if (sentInput) setInput(sentInput);
    if (after) sendWaiting();
  };
  made.onmessage = (event) => { if (made === socket) take(JSON.parse(event.data)); };
  made.onclose = ({ code }) => {
    if (made !== socket) return;
    if (code === UNKNOWN) return reopen();
    isWaitingToSend = false;
    setAnswers(false);
    if (code === ENDED) return leave();
    connectLater(made);
  };
}

// The session was ended, by another client. Its conversation can be opened again from the list.
function leave() {
  socket = null;
  busy = false;
  closeQuestion();
  setInput(null);
  setState();
  show("ended");
}

// Unless another connection has taken its place by then, also while the server is asked whether the token is right.
function connectLater(made) {
  const again = () => { if (made === socket) connect(); };
  show("disconnected");
  setTimeout(() => { if (made === socket && token) ask("/v1/sessions").then(again, again); }, wait);
  wait = Math.min(wait * 2, 15000);
}

// A phone ends connections of pages that are not seen; whoever comes back need not wait.
function reconnect() {
  if (document.hidden || !token || socket?.readyState !== WebSocket.CLOSED) return;
  wait = 500;
  connect();
}
document.addEventListener("visibilitychange", reconnect);
window.addEventListener("online", reconnect);

function send(record) {
  const connected = socket !== null && socket.readyState === WebSocket.OPEN;
  if (connected) socket.send(JSON.stringify(record));
  return connected;
}

function open(id) {
  if (id !== place.session) history.pushState({ session: id }, "");
  enter({ session: id });
}

function enter(next) {
  [place, last, following, isWaitingToSend] = [next, null, true, false];
  const before = socket;
  socket = null;
  if (before) before.close();
  show("connecting");
  connect();
}
window.addEventListener("popstate", (event) => {
  if (location.hash) return;
  const next = event.state || { session: "default" };
  if (next.session !== place.session) enter(next);
});

function remember(next) {
  place = next;
  history.replaceState(place, "");
}

// The address with a token was opened where the page is open already.
window.addEventListener("hashchange", () => {
  if (!location.hash) return;
  history.replaceState(place, "");
  location.reload();
});

// The server was started again since, or the session ended: its conversation is saved.
async function reopen() {
  const { conversation } = place;
  const made = socket;
  let response = null;
  try {
    if (conversation) response = await ask("/v1/sessions", { method: "POST", body: JSON.stringify({ conversation }) });
  } catch {
    // The server cannot be reached. The next connection starts with the state, which leads here again.
    last = null;
    made.onclose = null;
    made.close();
    return connectLater(made);
  }
  if (made !== socket) return;
  remember({ session: response && response.ok ? (await response.json()).id : "default" });
  enter(place);
}

// -- events -------------------------------------------------------------------------------------

function take(event) {
  if (event.number !== undefined) last = event.number;
  act(event);
  byId("welcome").hidden = byId("conversation").childElementCount > 0;
  follow();
}

// Whether the newest part of the conversation is in sight, so that it stays there. Only the person changes it:
// an image that arrives later puts the end out of sight, too.
let following = true;
let scrolledTo = 0;
const view = document.querySelector("main");

function isAtEnd() {
  return view.scrollHeight - view.scrollTop - view.clientHeight < 80;
}

function follow() {
  if (following) view.scrollTop = view.scrollHeight;
  byId("latest").hidden = following || isAtEnd();
}

view.addEventListener("scroll", () => {
  if (isAtEnd()) following = true;
  else if (view.scrollTop < scrolledTo) following = false;
  scrolledTo = view.scrollTop;
  byId("latest").hidden = isAtEnd();
}, { passive: true });
// The question and the keyboard of a phone take room from the conversation, and images give it more to show.
const sizes = new ResizeObserver(() => follow());
sizes.observe(view);
sizes.observe(byId("conversation"));
byId("latest").onclick = showLatest;

function showLatest() {
  following = true;
  follow();
}

function act(event) {
  switch (event.event) {
    case "state":
      if (place.created && place.created !== event.created && place.conversation && !event.messages.length) return reopen();
      remember({ session: event.id, created: event.created, conversation: event.conversation });
      shown.clear();
      byId("conversation").replaceChildren();
      event.messages.forEach(record);
      busy = event.busy;
      closeQuestion();
      if (event.question) openQuestion(event.question);
      setInput(event.input);
      setState();
      sendWaiting();
      if (document.activeElement === document.body) focusWords();
      conversations.refresh();
      break;
    case "turn.started":
      busy = true;
      setState();
      conversations.refresh(); // its name follows from the first request
      break;
    case "turn.ended":
      busy = false;
      closeQuestion();
      setInput(null);
      setState();
      if (event.reason) note(event.reason, event.outcome === "failed" ? "error" : "notice");
      conversations.refresh();
      break;
    case "message.started": record(event.message); break;
    case "message.grew": grow(event.id, event.text); break;
    case "message.recorded": record(event.message); break;
    case "question.asked": openQuestion(event.question); break;
    case "question.answered": if (question && question.id === event.id) closeQuestion(); break;
    case "run.reported": report(event); break;
    case "files.changed":
      note(`Files: ${event.changes.map((change) => `${change.path} ${change.what}`).join(", ")}`, "notice");
      break;
    case "model.retry": note(`${event.reason} Trying again in ${Math.round(event.seconds)} s.`, "notice"); break;
    case "session.ended":
      note(`${event.message} Open a conversation from the list, or begin a new one.`, "notice");
      break;
    case "notice": note(event.text, event.severity === "error" ? "error" : "notice"); break;
    case "error":
      note(event.message, "error");
      allowAnswers();
      restoreWords();
      break;
  }
}

function report(event) {
  if (event.report === "input.requested") setInput(event);
  else if (event.report === "input.received" || event.report === "ended") setInput(null);
  const item = shown.get(event.id);
  if (!item) return;
  if (event.report === "line" || event.report === "ended") {
    item.element.querySelectorAll(".now").forEach((line) => line.classList.remove("now"));
    const lines = item.element.querySelectorAll(".line");
    if (event.line && lines[event.line - 1]) lines[event.line - 1].classList.add("now");
  }
}

function record(message) {
  let item = shown.get(message.id);
  if (!item) {
    item = { message, element: document.createElement("article") };
    shown.set(message.id, item);
    byId("conversation").append(item.element);
  }
  item.message = message;
  if (message.role === "user") confirmWords(message.content);
  draw(item);
}

function grow(id, text) {
  const item = shown.get(id);
  if (!item) return;
  item.message.content = (item.message.content || "") + text;
  item.live = true;
  if (item.message.type === "console" && item.message.content.length > 2 * LONGEST) {
    item.message.content = `… earlier output is not shown …\n${item.message.content.slice(-LONGEST)}`;
  }
  if (!item.due) item.due = requestAnimationFrame(() => {
    item.due = 0;
    draw(item);
    follow();
  });
}

// -- drawing ------------------------------------------------------------------------------------

const WORDS = {
  writing: "being written", queued: "waits", waiting: "waits for you", running: "running", finished: "finished",
  failed: "failed", interrupted: "interrupted", lost: "ended, variables lost", rejected: "rejected",
  skipped: "not run", unfinished: "cut off, not run",
};

function draw({ message, element, live }) {
  const kind = message.type;
  element.className = `${message.role} ${kind === "console" ? "output" : kind}`;
  element.classList.toggle("asked", question !== null && question.message_id === message.id);
  if (kind === "image") return drawImage(message, element);
  if (kind === "code" && message.format === "html" && message.role === "computer") return drawPage(message, element);
  if (kind === "code") {
    const took = message.seconds === undefined ? "" : ` in ${message.seconds.toFixed(1)} s`;
    const state = `${WORDS[message.state] || ""}${took}${message.reason ? `: ${message.reason}` : ""}`;
    const title = [message.format || "code", message.where].filter(Boolean).join(" ");
    return element.replaceChildren(box(
      title, state, lines(message.content, message.format), { kind: message.state, copied: () => message.content },
    ));
  }
  if (kind === "console") return drawOutput(message, element, live);
  if (kind === "message" && message.role !== "user") return element.replaceChildren(...render(message.content || ""));
  const paragraph = document.createElement("p");
  paragraph.textContent = message.content;
  element.replaceChildren(paragraph);
}

function box(title, state, content, { kind = "", copied = null } = {}) {
  const figure = document.createElement("figure");
  const caption = document.createElement("figcaption");
  const text = document.createElement("pre");
  const [left, right] = [document.createElement("span"), document.createElement("span")];
  left.textContent = title;
  right.textContent = state;
  right.dataset.state = kind;
  // What is wider or longer than its frame can be scrolled by keys.
  text.tabIndex = 0;
  text.setAttribute("aria-label", title);
  caption.append(left, right);
  // Browsers have no clipboard for pages that other machines send without encryption.
  if (navigator.clipboard) caption.append(copier(title, copied || (() => text.textContent)));
  text.append(...content);
  figure.append(caption, text);
  return figure;
}

function copier(title, read) {
  const button = document.createElement("button");
  [button.type, button.textContent] = ["button", "Copy"];
  button.setAttribute("aria-label", `Copy ${title}`);
  button.onclick = async () => {
    await navigator.clipboard.writeText(read());
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  };
  return button;
}

// The end of what is being printed stays in sight, unless the person has scrolled away from it.
function drawOutput(message, element, live) {
  const table = message.table ? values(message.table) : [];
  element.classList.toggle("data", table.length > 0);
  if (table.length) return element.replaceChildren(...table);
  if (!element.querySelector("pre")) element.append(box("output", "", []));
  const text = element.querySelector("pre");
  const atEnd = text.scrollHeight - text.scrollTop - text.clientHeight < 40;
  text.replaceChildren(...output(message.content));
  if (live && atEnd) text.scrollTop = text.scrollHeight;
}

async function drawImage(message, element) {
  if (!message.url || element.dataset.url === message.url) return;
  element.dataset.url = message.url;
  const data = await ask(message.url).then((response) => (response.ok ? response.blob() : null)).catch(() => null);
  if (!data) { element.textContent = "(an image that cannot be read)"; return; }
  const image = document.createElement("img");
  image.alt = "image of the program";
  image.src = URL.createObjectURL(data);
  image.onload = () => URL.revokeObjectURL(image.src);
  image.tabIndex = 0;
  image.onclick = () => {
    following = false; // whoever looks at an image does not want to be at its end
    element.classList.toggle("whole");
  };
  image.onkeydown = (event) => { if (event.key === "Enter") image.click(); };
  element.replaceChildren(image);
}

function drawPage(message, element) {
  // The table above it shows the same value.
  element.hidden = message.recipient === "user" && element.previousElementSibling?.matches(".data") === true;
  if (element.hidden) return;
  if (SCRIPT.test(message.content)) return element.replaceChildren(pageSaver(message.content));
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", ""); // no scripts, no links out, no way to this page
  frame.title = "page of the program";
  frame.srcdoc = message.content;
  element.replaceChildren(frame);
}

// A page that draws itself by scripts would stay empty here, where none run.
function pageSaver(content) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Save the page";
  button.title = "It has scripts, which do not run here. Open the saved file in a browser.";
  button.onclick = () => {
    const link = document.createElement("a");
    // Of this type, browsers never open it as a page of this address, which has the token.
    link.href = URL.createObjectURL(new Blob([content], { type: "application/octet-stream" }));
    link.download = "page.html";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  };
  return button;
}

function note(text, kind) {
  const element = document.createElement("article");
  element.className = kind;
  element.textContent = text;
  byId("conversation").append(element);
}

function show(state) {
  if (byId("state").textContent === state) return;
  byId("state").textContent = state;
  byId("state").dataset.state = state;
}

function setState() {
  const waits = question || !byId("input").hidden;
  show(waits ? "waits for you" : busy ? "working" : "ready");
  byId("stop").hidden = !busy;
  byId("send").hidden = busy;
  document.title = waits ? "● oi-tui" : "oi-tui";
}

// -- the question -------------------------------------------------------------------------------

function openQuestion(asked) {
  question = asked;
  const panel = byId("question");
  panel.querySelector("h2").textContent = asked.language.startsWith("mcp:")
    ? `Call the tool ${asked.language.slice(4)}?`
    : `Run this ${asked.language} code?`;
  const hidden = asked.hidden_characters.length ? `Hidden characters: ${asked.hidden_characters.join(", ")}` : "";
  const count = asked.code.trimEnd().split("\n").length;
  const facts = [
    ["danger", hidden], ["danger", asked.caution], ["", asked.note], ...asked.findings.map((text) => [asked.harmless ? "" : "finding", text]),
    ["", `${count} ${count === 1 ? "line" : "lines"} · ${asked.program}, in ${asked.folder}`],
  ];
  byId("facts").replaceChildren(...facts.filter(([, text]) => text).map(([kind, text]) => {
    const part = document.createElement("p");
    [part.className, part.textContent] = [kind, text];
    return part;
  }));
  byId("code").value = asked.code;
  byId("reading").replaceChildren(...lines(asked.code, asked.language));
  byId("reason").hidden = true;
  byId("reason").value = "";
  setOffers(asked.always);
  setEditing(false);
  const cell = shown.get(asked.message_id);
  if (cell) draw(cell);
  setAnswers(false);
  panel.hidden = false;
  byId("reading").scrollTop = 0;
  byId("code").rows = Math.min(asked.code.split("\n").length + 1, 40);
  byId("announcement").textContent = byId("title").textContent;
  if (!isTyping()) byId("title").focus({ preventScroll: true });
  allowAnswers();
  setState();
}

// Whoever is typing goes on typing; others find what waits for them under their keys.
function isTyping() {
  return byId("words").value || conversations.isOpen() || document.activeElement?.matches("#token");
}

function setAnswers(allowed) {
  byId("question").querySelectorAll("button").forEach((button) => { button.disabled = !allowed; });
}

function allowAnswers() {
  const asked = question;
  if (asked) setTimeout(() => { if (question === asked) setAnswers(true); }, GUARD);
}

function closeQuestion() {
  const cell = question && shown.get(question.message_id);
  const hadFocus = byId("question").contains(document.activeElement);
  question = null;
  byId("question").hidden = true;
  byId("announcement").textContent = "";
  if (cell) draw(cell);
  if (hadFocus) focusWords();
  setState();
}

// The keyboard of a phone would cover what is there to be read.
function focusWords() {
  if (matchMedia("(hover: hover)").matches) byId("words").focus({ preventScroll: true });
}

function answer(decision, more = {}) {
  if (!question) return;
  if (!send({ do: "answer", question: question.id, hash: question.hash, decision, ...more })) return;
  setAnswers(false);
}

byId("run").onclick = () => {
  // A textarea has line feeds only; code that was not edited is approved as it is, by its hash.
  if (byId("code").readOnly) answer("run");
  else answer("edit", { code: byId("code").value });
};
byId("edit").onclick = () => {
  const code = byId("code");
  setEditing(code.readOnly);
  if (code.readOnly) code.value = question.code;
  else {
    code.setSelectionRange(0, 0);
    code.focus();
    code.scrollTop = 0;
  }
};

byId("always").onclick = () => showOffers(byId("offers").hidden);

// What may run without a question from now on, if this code runs; the server numbers its offers from 1.
function setOffers(offers) {
  const heading = document.createElement("p");
  [heading.id, heading.textContent] = ["granting", "Run this, and from now on run without a question:"];
  byId("offers").replaceChildren(heading, ...offers.map((text, position) => {
    const button = document.createElement("button");
    [button.type, button.textContent] = ["button", text];
    button.onclick = () => answer("always", { grant: position + 1 });
    return button;
  }));
  showOffers(false);
}

function showOffers(shown) {
  byId("offers").hidden = !shown;
  byId("always").setAttribute("aria-expanded", String(shown));
  if (shown) byId("offers").querySelector("button").focus();
}

function setEditing(editing) {
  // A permission is for code as it was written.
  byId("always").hidden = editing || !question.always.length;
  if (editing) showOffers(false);
  byId("code").readOnly = !editing;
  byId("code").hidden = !editing;
  byId("reading").hidden = editing;
  byId("edit").textContent = editing ? "Undo edit" : "Edit";
  byId("edit").setAttribute("aria-pressed", String(editing));
  byId("run").textContent = editing ? "Run edited" : "Run";
}

byId("reject").onclick = () => {
  const reason = byId("reason");
  if (!reason.hidden) return answer("reject", { reason: reason.value });
  reason.hidden = false;
  reason.focus();
};
byId("reason").onkeydown = (event) => {
  if (event.key === "Enter" && !event.isComposing) answer("reject", { reason: event.target.value });
};

// -- forms --------------------------------------------------------------------------------------

function setInput(request) {
  [input, sentInput] = [request, null];
  const hadFocus = byId("input").contains(document.activeElement);
  byId("input").hidden = !request;
  setState();
  byId("line").type = request && request.masked ? "password" : "text";
  if (!request) {
    byId("line").value = "";
    if (hadFocus) focusWords();
    return;
  }
  byId("input").querySelector("label").textContent = request.prompt || "The program is waiting for input";
  if (!isTyping()) byId("line").focus();
}

byId("input").onsubmit = (event) => {
  event.preventDefault();
  const request = input;
  if (!send({ do: "input", text: byId("line").value })) return;
  setInput(null);
  sentInput = request;
};
byId("prompt").onsubmit = (event) => {
  event.preventDefault();
  const words = byId("words");
  const text = words.value;
  isWaitingToSend = text.trim() !== "" && socket?.readyState === WebSocket.CONNECTING;
  if (!text.trim() || busy || !send({ do: "say", content: text })) return;
  [sentWords, words.value] = [text, ""];
  showLatest();
};

// Enter was pressed before the page was connected.
function sendWaiting() {
  const isDue = isWaitingToSend;
  isWaitingToSend = false;
  if (isDue) byId("prompt").requestSubmit();
}
byId("words").addEventListener("input", () => { isWaitingToSend = false; });

// What was not taken can be sent again, unless something else stands there by now.
function restoreWords() {
  const words = byId("words");
  if (!sentWords || words.value) return;
  words.value = restoredWords = sentWords;
  sentWords = "";
}

function confirmWords(text) {
  const words = byId("words");
  if (text === sentWords) sentWords = "";
  else if (text === restoredWords && words.value === text) words.value = "";
}
byId("words").onkeydown = (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    byId("prompt").requestSubmit();
  }
};
document.addEventListener("keydown", (event) => {
  // Escape while code is edited would lose the edit; in the navigator it only closes that.
  const elsewhere = !byId("code").readOnly || conversations.isOpen();
  // Not from the prompt, where this might be meant for the message.
  const mayRun = question && !byId("run").disabled && !event.target.matches("#words, #reason");
  if ((event.ctrlKey || event.metaKey) && event.key === "Enter" && mayRun && !event.repeat) byId("run").click();
  if (event.key === "Escape" && busy && !elsewhere && !event.isComposing) send({ do: "stop" });
});
byId("stop").onclick = () => send({ do: "stop" });
byId("login").onsubmit = (event) => {
  event.preventDefault();
  token = byId("token").value.trim();
  byId("token").value = "";
  sessionStorage.setItem("token", token);
  byId("login").hidden = true;
  byId("prompt").hidden = false;
  ask("/v1/sessions").then((response) => { if (response.status !== 401) connect(); }, connect);
};

byId("new").onclick = async () => {
  const response = await ask("/v1/sessions", { method: "POST", body: "{}" });
  if (response.ok) open((await response.json()).id);
};

connect();
