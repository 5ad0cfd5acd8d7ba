import JSON
import Ledger
import Reports

extension ReviewPage {
  /// The number of edits whose details the page requests at a time.
  static let batch = 200

  /// The placeholders for values, by what is known of them.
  private static let placeholders = JSONValue.object(
    ReportMask.Placeholder.allCases.reduce(into: [:]) { $0["\($1)"] = .string($1.words) })

  /// The description of each decision.
  private static let words = JSONValue.object(
    Decision.Kind.allCases.reduce(into: [:]) { $0[$1.rawValue] = .string(typeset($1.meaning)) })

  /// The labels of the buttons for decisions with a keyboard shortcut.
  private static let labels = JSONValue.object(
    keys.reduce(into: [:]) { $0[$1.kind.rawValue] = .string($1.kind.label) })

  /// The verdicts of edits that the next run processes without a decision.
  private static let waiting = JSONValue(
    Verdict.allCases.filter(\.isWaiting).map(\.rawValue))

  /// The keyboard shortcuts of decisions.
  static let keysOfDecisions = JSONValue.object(
    keys.reduce(into: [:]) { $0[$1.kind.rawValue] = .string($1.key) })

  private static func typeset(_ words: String) -> String { words.replacing("'", with: "’") }

  /// The list, its filters, the decisions and the requests to the server.
  ///
  /// Only the visible rows are in the document, so a hundred thousand edits scroll like ten.
  static let script = #"""

    'use strict'
    const $ = id => document.getElementById(id)
    const rowHeight = 64
    const batch = \#(batch)
    const state = {
      edits: [], shown: [], at: 0, choices: new Map(), details: new Map(), candidates: {},
      looked: new Set(), looks: 0, busy: false, plan: 0, by: ''
    }
    const words = \#(words.text)
    const placeholders = \#(placeholders.text)
    const labels = \#(labels.text)
    const waiting = \#(waiting.text)

    /** An element with properties (`class`, `data-…` and `aria-…` as attributes) and children. */
    function make(tag, properties = {}, ...children) {
      const element = document.createElement(tag)
      for (const [name, value] of Object.entries(properties)) {
        if (value === null || value === undefined || value === false) continue
        if (name in element && name !== 'list') element[name] = value
        else element.setAttribute(name === 'className' ? 'class' : name, value)
      }
      element.append(...children.filter(child => child !== null && child !== undefined))
      return element
    }

    // Requests to the server.

    async function answer(response) {
      const value = await response.json().catch(() => ({message: response.statusText}))
      if (!response.ok) throw value
      return value
    }
    async function ask(place) {
      try { return await answer(await fetch(place)) } catch (error) { throw told(error) }
    }
    async function send(place, body) {
      try {
        return await answer(await fetch(place, {
          method: 'POST', body: JSON.stringify(body),
          headers: {'Content-Type': 'application/json'}
        }))
      } catch (error) { throw told(error) }
    }
    function told(error) {
      return error instanceof TypeError
        ? {message: 'attache review does not respond: it has stopped, or the connection is lost'}
        : error
    }
    /** Follows a job to its end. Returns its last event, or throws the failure. */
    async function follow(number, onEvent = () => {}) {
      let after = 0
      for (;;) {
        const {events, ended} = await ask(`job?number=${number}&after=${after}`)
        after += events.length
        for (const event of events) {
          if (event.type === 'failed') throw event
          if (event.type === 'done') return event
          onEvent(event)
        }
        if (ended) throw {message: 'the job ended without a result'}
      }
    }
    async function work(place, body, onEvent) {
      state.busy = true
      try { return await follow((await send(place, body)).job, onEvent) } finally {
        state.busy = false
      }
    }

    // The list.

    const current = () => state.shown[state.at]

    async function load(keep) {
      const answer = await ask('edits')
      state.edits = answer.edits
      state.by = answer.by
      state.details.clear()
      state.looked.clear()
      const open = new Map(answer.edits.map(edit => [edit.edit, edit]))
      // A choice applies to what was shown; if the verdict has changed, discard it.
      for (const [number, choice] of state.choices) {
        if (open.get(number)?.verdict !== choice.verdict) state.choices.delete(number)
      }
      fillFilters()
      filter(keep)
      $('freshness').textContent = ''
      lookAround()
    }

    function fillFilters() {
      const fill = (id, all, values) => {
        const chosen = $(id).value
        const counts = new Map()
        for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
        $(id).replaceChildren(make('option', {value: ''}, `${all} (${values.length})`),
          ...[...counts].sort((a, b) => a[0] < b[0] ? -1 : 1)
            .map(([value, count]) => make('option', {value}, `${value} (${count})`)))
        $(id).value = counts.has(chosen) ? chosen : ''
      }
      fill('verdict', 'all', state.edits.map(edit => edit.verdict))
      fill('user', 'all', state.edits.map(edit => edit.user))
      for (const edit of state.edits) {
        edit.text = [edit.name, edit.user, edit.object, edit.id, edit.edit, edit.verdict,
          ...edit.fields].join(' ').toLowerCase()
      }
    }

    function filter(keep) {
      const text = $('search').value.trim().toLowerCase()
      const [verdict, user] = [$('verdict').value, $('user').value]
      const number = keep ?? current()?.edit
      state.shown = state.edits.filter(edit =>
        (!verdict || edit.verdict === verdict) && (!user || edit.user === user)
        && (!text || edit.text.includes(text)))
      state.at = Math.max(0, state.shown.findIndex(edit => edit.edit === number))
      const [shown, all] = [state.shown.length, state.edits.length]
      $('count').textContent = all === 0 ? 'No open edits.'
        : shown === all ? `${all} open` : `${shown} of ${all} shown`
      $('rows').style.height = `${Math.max(1, shown) * rowHeight}px`
      for (const button of document.querySelectorAll('[data-all]')) {
        const kind = button.dataset.all
        button.disabled = !state.shown.some(edit => !kind || edit.possible.includes(kind))
      }
      go(state.at)
    }

    function go(index) {
      state.at = Math.min(Math.max(0, index), Math.max(0, state.shown.length - 1))
      const [list, top] = [$('list'), state.at * rowHeight]
      if (top < list.scrollTop) list.scrollTop = top
      const bottom = top + rowHeight - list.clientHeight
      if (bottom > list.scrollTop) list.scrollTop = bottom
      draw()
      showDetail()
    }

    function draw() {
      const list = $('list')
      const first = Math.max(0, Math.floor(list.scrollTop / rowHeight) - 5)
      const count = Math.ceil(list.clientHeight / rowHeight) + 10
      const places = new Set(
        state.shown.slice(first, first + count).map((_, index) => first + index))
      if (state.shown.length > 0) places.add(state.at)
      $('rows').replaceChildren(...[...places].sort((a, b) => a - b).map(row))
      if (state.shown.length > 0) list.setAttribute('aria-activedescendant', `row-${state.at}`)
      else {
        list.removeAttribute('aria-activedescendant')
        $('rows').append(make('div', {
          role: 'option', className: 'empty', 'aria-selected': 'false', 'aria-disabled': 'true'
        }, state.edits.length === 0 ? 'No open edits.' : 'No edit matches the filters.'))
      }
      tell()
    }

    /** Shows how many edits are decided, and an optional message. */
    function tell(more = '') {
      const count = state.choices.size
      $('chosen').textContent = [count === 0 ? 'No decisions yet.'
        : count === 1 ? '1 edit decided.' : `${count} edits decided.`, more]
        .filter(Boolean).join(' ')
      $('plan').disabled = count === 0
    }

    function row(index) {
      const edit = state.shown[index]
      const chosen = state.choices.get(edit.edit)
      const element = make('div', {
        role: 'option', id: `row-${index}`, 'aria-selected': String(index === state.at),
        'aria-setsize': state.shown.length, 'aria-posinset': index + 1
      },
        make('span', {className: 'name'}, edit.name),
        make('span', {className: 'verdict ' + kind(edit.verdict)}, edit.verdict),
        make('span', {className: 'soft'}, `${edit.object} · ${edit.user}`),
        make('span', {className: 'choice'},
          chosen ? '→ ' + (labels[chosen.decision] ?? words[chosen.decision])
            : edit.decided ? 'decided, for the next run' : ''))
      element.style.top = `${index * rowHeight}px`
      element.addEventListener('click', () => { go(index); $('list').focus() })
      return element
    }
    const kind = verdict => waiting.includes(verdict) ? 'waiting' : ''

    /** Looks up the current edit and its neighbours in the org, unless that was done before. */
    async function lookAround(again) {
      if (again) state.looked.clear()
      const wanted = state.shown.slice(state.at, state.at + batch).map(edit => edit.edit)
        .filter(number => !state.looked.has(number))
      if (state.busy || wanted.length === 0 || state.looked.has(current()?.edit)) return
      const look = ++state.looks
      $('freshness').textContent = 'Reading the org’s values…'
      for (const number of wanted) state.looked.add(number)
      try {
        const found = await work('look', {edits: wanted})
        Object.assign(state.candidates, found.candidates)
        for (const number of wanted) state.details.delete(number)
        await refresh(wanted.filter(number => state.choices.has(number)))
        const time = new Date().toLocaleTimeString()
        await showDetail()
        // Only when its values are shown, and unless another look-up has started.
        if (look === state.looks) $('freshness').textContent = `Org values read at ${time}.`
      } catch (error) {
        $('freshness').textContent = 'The org’s values could not be read, so those of the last '
          + `report are shown: ${error.message}${error.reason ? ': ' + error.reason : ''}`
      }
    }

    /** Gets the details of edits, and discards choices made for other values than those shown. */
    async function refresh(numbers) {
      let moved = 0
      for (let start = 0; start < numbers.length; start += batch) {
        const part = numbers.slice(start, start + batch)
        for (const detail of (await ask(`details?of=${part.join(',')}`)).edits) {
          state.details.set(detail.edit, detail)
          const choice = state.choices.get(detail.edit)
          if (choice && choice.revision !== detail.revision) {
            state.choices.delete(detail.edit)
            moved++
          }
        }
      }
      if (moved === 0) return
      draw()
      tell(`${moved} of your decisions ${moved === 1 ? 'was' : 'were'} cleared: the values changed.`)
    }

    // Choices.

    /** Sets or clears the choice for an edit. Returns whether the choice is possible.
     *  A choice applies to what is shown of the edit at this moment. */
    function choose(edit, choice) {
      const {revision} = state.details.get(edit.edit) ?? edit
      if (!choice) state.choices.delete(edit.edit)
      else if (!edit.possible.includes(choice.decision)) return false
      else {
        state.choices.set(edit.edit,
          {edit: edit.edit, revision, verdict: edit.verdict, ...choice})
      }
      return true
    }
    function chooseHere(decision, edit = current()) {
      if (!edit) return
      // If the org has no value to take, the alternative is to discard the edit.
      const wanted = decision === 'server' && !edit.possible.includes('server')
        ? 'discard' : decision
      if (!choose(edit, wanted ? {decision: wanted} : null)) {
        tell(`Not possible here: ${words[wanted]}.`)
        return
      }
      draw()
      showDetail()
    }
    function chooseAll(decision) {
      let [left, others] = [0, 0]
      for (const edit of state.shown) {
        if (decision && edit.decidedBy && edit.decidedBy !== state.by) others++
        else if (!choose(edit, decision ? {decision} : null)) {
          state.choices.delete(edit.edit)
          left++
        }
      }
      draw()
      showDetail()
      tell([left ? `Not possible for ${left}, which stay undecided.` : '',
        others ? `${others} with another user’s decision were left alone.` : '']
        .filter(Boolean).join(' '))
    }

    // The plan, and sending.

    function dialog(title, ...children) {
      $('dialog').replaceChildren(make('h2', {id: 'dialog-title'}, title),
        ...children.filter(Boolean))
      if (!$('dialog').open) $('dialog').showModal()
    }
    function trouble(error) {
      return make('p', {className: 'note bad', role: 'alert'},
        [error.message, error.reason, error.fix].filter(Boolean).join(' — '))
    }
    const close = () => make('button', {type: 'button', onclick: () => $('dialog').close()}, 'Close')
    const idle = async () => {
      while (state.busy) await new Promise(resolve => setTimeout(resolve, 50))
    }
    const name = number => state.edits.find(edit => edit.edit === number)?.name ?? ''
    const said = value => value === null || value === '' ? placeholders.empty
      : typeof value === 'string' ? value : JSON.stringify(value)

    /** Shows what the current choices would do, unless the dialog is closed meanwhile. */
    async function plan() {
      if (state.choices.size === 0) return
      const number = ++state.plan
      const isDropped = () => number !== state.plan || !$('dialog').open
      dialog('What would be sent', make('p', {role: 'status'}, 'Asking the org…'),
        make('progress'))
      await idle()
      if (isDropped()) return
      const chosen = [...state.choices.values()]
      try {
        const found = await work('plan', {decisions: chosen})
        if (!isDropped()) showPlan(chosen, found)
      } catch (error) {
        if (!isDropped()) dialog('The plan failed', trouble(error), close())
      }
    }

    function showPlan(chosen, {planned, refused, replaced}) {
      const most = 200
      const byNumber = new Map(chosen.map(choice => [choice.edit, choice]))
      const told = planned.filter(plan => byNumber.has(plan.edit) || plan.action)
      const line = plan => {
        const sent = plan.action ? plan.fields.map(field => `${field.name}: `
          + (field.masked ? placeholders.masked : 'entered' in field ? said(field.entered)
            : 'device' in field ? said(field.device) : placeholders.withheld))
          .join(', ') : ''
        const isDoubtful = plan.verdict === 'unconfirmed'
          && byNumber.get(plan.edit)?.decision === 'device'
        return make('li', {}, make('b', {}, `${name(plan.edit)} (${plan.object}): `),
          plan.action ? `${plan.action} ${sent}` : isDoubtful
            ? 'sent again, if the wait for its answer is over and the org still does not show the first request'
            : 'nothing is sent',
          make('span', {className: 'soft'}, ` → ${plan.verdict}`),
          byNumber.has(plan.edit) ? null
            : make('b', {}, ' · also sent: it was waiting for another record'),
          plan.message ? make('span', {}, `. ${plan.message}`) : null)
      }
      const lines = told.slice(0, most).map(line)
      if (told.length > most) lines.push(make('li', {}, `and ${told.length - most} more`))
      const reasons = refused.slice(0, most).map(one =>
        make('li', {}, make('b', {}, `${name(one.edit)}: `), one.reason))
      const no = new Set(refused.map(one => one.edit))
      const possible = chosen.filter(choice => !no.has(choice.edit))
      const writes = told.filter(plan => plan.action).length
      const summary = `${told.length} ${told.length === 1 ? 'edit' : 'edits'}, `
        + `${writes} ${writes === 1 ? 'write' : 'writes'} to the org`
      const sendNow = make('button', {
        type: 'button', className: 'main', id: 'send', disabled: possible.length === 0,
        onclick: () => carryOut(possible)
      }, 'Send now ', make('kbd', {}, '↵'))
      const later = make('button', {
        type: 'button', disabled: possible.length === 0, onclick: () => leave(possible)
      }, 'Send with the next run')
      dialog('What would be sent', make('p', {}, summary),
        lines.length ? make('ul', {}, ...lines) : null,
        replaced.length ? make('p', {className: 'note'}, 'This replaces the decisions of '
          + [...new Set(replaced.map(one => one.by))].join(', ') + ' about '
          + replaced.slice(0, 20).map(one => name(one.edit)).join(', ') + '.') : null,
        reasons.length ? make('h3', {}, 'Not possible') : null,
        reasons.length ? make('ul', {}, ...reasons) : null,
        make('p', {className: 'actions'}, sendNow, later,
          make('button', {type: 'button', onclick: () => $('dialog').close()}, 'Back ',
            make('kbd', {}, 'Esc'))))
      sendNow.focus()
    }

    /** Records decisions. Returns their number, or 0 if they were refused. */
    async function enter(chosen) {
      try {
        const {decided} = await send('decide', {decisions: chosen})
        for (const choice of chosen) {
          if (state.choices.get(choice.edit) === choice) state.choices.delete(choice.edit)
        }
        return decided
      } catch (error) {
        dialog('No decision was recorded', trouble(error),
          make('p', {}, 'Your choices are still on this page.'), close())
        return 0
      }
    }

    async function leave(chosen) {
      const decided = await enter(chosen)
      if (decided === 0) return
      dialog('Decided', make('p', {role: 'status'},
        `${decided} ${decided === 1 ? 'decision waits' : 'decisions wait'} for the next run.`),
        close())
      await load().catch(error => $('dialog').append(trouble(error)))
    }

    async function carryOut(chosen) {
      await idle()
      const status = make('p', {role: 'status'}, 'Recording the decisions…')
      const bar = make('progress')
      dialog('Sending', status, bar)
      if (await enter(chosen) === 0) return
      try {
        const {results} = await work('send', {edits: chosen.map(choice => choice.edit)}, event => {
          if (event.type === 'editsSettled') {
            ;[bar.max, bar.value] = [event.of, event.done]
            status.textContent = `${event.done} of ${event.of} edits processed.`
          } else if (event.type === 'warning') {
            $('dialog').append(make('p', {className: 'note'}, event.message))
          }
        })
        const lines = results.slice(0, 200).map(result => make('li', {},
          make('b', {}, `${result.name}: `), result.verdict,
          make('span', {className: 'soft'}, ` — ${result.message ?? result.meaning}`)))
        const open = results.filter(result => !result.settled).length
        await load().catch(() => {})
        dialog(open === 0 ? 'Done' : 'Partly done',
          make('p', {role: 'status'}, open === 0
            ? `${results.length} of ${results.length} edits are resolved.`
            : `${results.length - open} of ${results.length} edits are resolved; the others stay open.`),
          make('ul', {id: 'results'}, ...lines), close())
      } catch (error) {
        await load().catch(() => {})
        dialog('The run was interrupted', trouble(error), make('p', {},
          'The decisions are recorded; the next run applies them.'), close())
      }
    }

    """#
}
