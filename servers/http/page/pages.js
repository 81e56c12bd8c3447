"use strict";
// The one script of the pages of `nl-stage serve`: a question to a run, and the list of live runs. Without it every page still works.
(function () {
  function element(tag, text) {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    return made;
  }

  function cell(value) {
    const made = element("td", value === null ? "–" : typeof value === "object" ? JSON.stringify(value) : String(value));
    if (typeof value === "number") made.className = "n";
    return made;
  }

  // {columns: [name or {name}], rows: [[…] or {…}]}
  function table(answer) {
    const names = answer.columns.map(column => typeof column === "object" ? column.name : column);
    const made = element("table"), head = element("tr"), body = element("tbody");
    for (const name of names) head.append(element("th", name));
    for (const row of answer.rows) {
      const line = element("tr");
      for (const value of Array.isArray(row) ? row : names.map(name => row[name])) line.append(cell(value));
      body.append(line);
    }
    made.append(element("thead"), body);
    made.tHead.append(head);
    return made;
  }

  function failure(answer, status) {
    const error = answer && answer.error;
    return error ? error.what + (error.fix ? ". Fix: " + error.fix : "") : "The server answered with status " + status;
  }

  async function ask(form) {
    const said = form.querySelector(".said"), result = form.querySelector(".result");
    const button = form.querySelector("button");
    said.dataset.state = "";
    said.textContent = "asking …";
    button.disabled = true;
    try {
      const reply = await fetch(form.dataset.address, {
        method: "POST", headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ [form.dataset.run_argument]: form.dataset.run, [form.dataset.sql_argument]: form.elements.sql.value }),
      });
      const answer = await reply.json();
      if (!reply.ok || answer.error) throw new Error(failure(answer, reply.status));
      const shown = answer.rows && answer.columns ? table(answer) : element("pre", JSON.stringify(answer, null, 2));
      result.replaceChildren(shown);
      said.textContent = answer.rows ? answer.rows.length + (answer.rows.length === 1 ? " row" : " rows") + (answer.truncated ? ", and more" : "") : "";
    } catch (error) {
      said.dataset.state = "failed";
      said.textContent = error.message;
      result.replaceChildren();
    }
    button.disabled = false;
  }

  for (const form of document.querySelectorAll("form.ask")) {
    form.addEventListener("submit", event => {
      event.preventDefault();
      ask(form);
    });
    form.elements.sql.addEventListener("keydown", event => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
    });
  }

  // The list of live runs is the page's own, asked for again.
  const live = document.getElementById("live");
  async function renew() {
    try {
      const reply = await fetch(location.href, { headers: { Accept: "text/html" } });
      if (!reply.ok) return;
      const fresh = new DOMParser().parseFromString(await reply.text(), "text/html").getElementById("live");
      const current = document.getElementById("live");
      if (fresh && current && !current.contains(document.activeElement)) current.replaceWith(document.adoptNode(fresh));
    } catch (gone) {
      // The server may come back.
    }
  }
  if (live) setInterval(() => { if (!document.hidden) renew(); }, 2000);
})();
