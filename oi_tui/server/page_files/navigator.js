// The list of conversations: those that are open on the server, and those that are saved.
const byId = (id) => document.getElementById(id);
const dialog = byId("navigator");

// `page` can ask the server, open a session, show an error, and knows the session at work and whether it may ask.
export function makeNavigator(page) {
  let search = 0;
  let due = 0;

  // Names the conversation at work, and marks that another one waits for an answer.
  async function refresh() {
    const response = await page.ask("/v1/sessions").catch(() => null);
    if (!response?.ok) return [];
    const { sessions } = await response.json();
    const own = sessions.find(({ id }) => id === page.session());
    byId("name").textContent = own?.title || "New conversation";
    byId("sessions").classList.toggle("waiting", sessions.some(({ id, waiting }) => waiting && id !== own?.id));
    return sessions;
  }

  async function list() {
    const number = ++search;
    const words = byId("search").value.trim();
    const [sessions, response] = await Promise.all([
      refresh(), page.ask(`/v1/conversations?${new URLSearchParams({ search: words })}`),
    ]);
    // An answer to what was typed before comes too late.
    if (number !== search || !response.ok) return;
    const { conversations } = await response.json();
    const named = words.toLowerCase().split(/\s+/).filter(Boolean);
    const found = new Set(conversations.map((item) => item.session));
    const opened = sessions.filter(({ id, title }) => found.has(id) || named.every((word) => title.toLowerCase().includes(word)));
    byId("list").replaceChildren(
      ...group("Open", opened.map((item) => entry(
        item.title || "New conversation",
        item.waiting ? "waits for you" : item.busy ? "working" : "ready",
        () => page.open(item.id), { current: item.id === page.session(), waiting: item.waiting },
      ))),
      ...group("Saved", conversations.filter((item) => !item.session).map((item) => entry(
        item.title || "(no title)", `${ago(item.updated)} · ${item.messages} messages · ${item.folder}`, () => openSaved(item.id),
      ))),
    );
    if (!byId("list").childElementCount) {
      const nothing = document.createElement("p");
      nothing.textContent = words ? "No conversation has all these words." : "There are no conversations yet.";
      byId("list").append(nothing);
    }
  }

  async function openSaved(conversation) {
    const response = await page.ask("/v1/sessions", { method: "POST", body: JSON.stringify({ conversation }) });
    const body = await response.json();
    if (response.ok) page.open(body.id);
    else page.fail(body.error.message);
  }

  function show() {
    if (dialog.open || !page.mayAsk()) return;
    byId("search").value = "";
    byId("list").replaceChildren();
    dialog.showModal();
    byId("search").focus();
    list();
  }

  byId("sessions").onclick = show;
  byId("search").oninput = () => {
    clearTimeout(due);
    due = setTimeout(list, 200);
  };
  dialog.onclick = (event) => { if (event.target === dialog) dialog.close(); };
  dialog.onkeydown = (event) => {
    const entries = [...byId("list").querySelectorAll("button")];
    const place = entries.indexOf(document.activeElement);
    if (event.key === "Enter" && event.target === byId("search")) {
      event.preventDefault();
      entries[0]?.click();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const next = place + (event.key === "ArrowDown" ? 1 : -1);
      (entries[next] || (next < 0 ? byId("search") : entries[place])).focus();
    }
  };
  document.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "k") return;
    event.preventDefault();
    show();
  });
  // Another session may ask a question, too.
  setInterval(() => { if (page.mayAsk() && !document.hidden) refresh(); }, 15_000);
  return { refresh, isOpen: () => dialog.open };
}

function group(title, entries) {
  if (!entries.length) return [];
  const heading = document.createElement("h3");
  heading.textContent = title;
  return [heading, ...entries];
}

function entry(title, about, choose, { current = false, waiting = false } = {}) {
  const button = document.createElement("button");
  const [first, second] = [document.createElement("strong"), document.createElement("small")];
  [button.type, first.textContent, second.textContent] = ["button", title, about];
  button.classList.toggle("waiting", waiting);
  if (current) button.setAttribute("aria-current", "true");
  button.append(first, second);
  button.onclick = () => { dialog.close(); choose(); };
  return button;
}

function ago(seconds) {
  const minutes = Math.max(0, Date.now() / 1000 - seconds) / 60;
  const words = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
  if (minutes < 60) return words.format(-Math.round(minutes), "minute");
  if (minutes < 24 * 60) return words.format(-Math.round(minutes / 60), "hour");
  if (minutes < 30 * 24 * 60) return words.format(-Math.round(minutes / 24 / 60), "day");
  return new Date(seconds * 1000).toLocaleDateString("en", { dateStyle: "medium" });
}
