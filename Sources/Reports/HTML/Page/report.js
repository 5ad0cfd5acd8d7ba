// Builds the list of edits from the page's data.
//
// It filters, searches and sorts, shows times in the reader's time zone, and copies commands. Without it, the page shows
// its totals and the open edits. No value of a record becomes markup: values are set as text, and the sentences (h) are
// escaped when the page is written.
'use strict'
const part = 50
const data = JSON.parse(document.getElementById('data').textContent)
const rows = data.rows
const make = (name, attributes, ...children) => {
  const element = document.createElement(name)
  for (const key in attributes) if (attributes[key] != null) element.setAttribute(key, attributes[key])
  element.append(...children.filter(child => child != null))
  return element
}
const zoned = new Intl.DateTimeFormat(undefined, {
  year: 'numeric', month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit',
  timeZoneName: 'short'})
const setTime = element => {
  const utc = element.textContent
  element.textContent = zoned.format(new Date(element.dateTime))
  element.title = utc
}
const time = ms => {
  const iso = new Date(ms).toISOString()
  return make('time', {datetime: iso, title: iso.slice(0, 16).replace('T', ' ') + ' UTC'},
    zoned.format(new Date(ms)))
}
const number = new Intl.NumberFormat()

// MARK: one edit

const columns = data.columns
const states = data.states
const cell = (value, label, changed) => {
  const td = make('td', {'data-label': label, class: changed ? 'changed' : null})
  if (typeof value === 'number') td.append(make('i', {}, states[value]))
  else if (Array.isArray(value)) td.append(value[0], make('i', {}, ' … ' + number.format(value[1]) +
    ' characters; ', /^values\/[0-9a-f]{64}\.txt$/.test(value[2]) ? make('a', {href: value[2]}, 'full value')
    : 'report.json has the full list'))
  else td.append(value)
  return td
}
const table = (fields, caption, org) => {
  const hasBase = fields.some(field => field[1] !== 1)
  const hasServer = fields.some(field => field[3] !== null)
  const hasEntered = fields.some(field => field.length > 5)
  const head = ['Field', hasBase && columns.base.title, columns.device.title,
    hasEntered && columns.entered.title, hasServer && org.title].filter(Boolean)
  const body = make('tbody', {})
  for (const [name, base, device, server, flags, entered] of fields) {
    const tr = make('tr', {class: flags & 1 ? 'conflicting' : null}, make('th', {scope: 'row'}, name))
    if (hasBase) tr.append(cell(base, columns.base.label))
    tr.append(cell(device, columns.device.label, flags & 2))
    if (hasEntered) tr.append(entered === undefined ? make('td', {}) : cell(entered, columns.entered.label, true))
    if (hasServer) tr.append(cell(server === null ? 1 : server, org.label, flags & 4))
    body.append(tr)
  }
  return make('table', {class: 'fields'}, make('caption', {}, caption), make('thead', {},
    make('tr', {}, ...head.map(text => make('th', {scope: 'col'}, text)))), body)
}
const code = text => make('code', {}, ...text.split(/(?<!\S)(--\S+(?: (?!-)\S{1,16}(?!\S))?)/)
  .map((piece, place) => place % 2 ? make('span', {class: 'o'}, piece) : piece))
const command = text => {
  const button = make('button', {type: 'button', 'aria-label': 'Copy ' + text}, 'Copy')
  return make('li', {}, code(text), button)
}
const article = row => {
  const verdict = data.verdicts[row.v]
  const element = make('article', {id: 'edit-' + row.n, tabindex: -1}, make('h3', {},
    make('span', {class: 'tag ' + verdict.kind}, verdict.name), ' ',
    make('span', {class: 'object'}, data.objects[row.o]), ' ',
    row.t ? make('span', {class: 'name'}, row.t) : ''))
  const where = make('p', {class: 'where'}, data.did[row.d] + ' by ', make('b', {}, data.users[row.u]))
  if (row.e) where.append(' on ', time(row.e))
  if (data.instance && /^[0-9A-Za-z]+$/.test(row.r)) where.append(' · ', make('a', {href: data.instance + '/' + row.r,
    rel: 'noreferrer'}, 'Open in the org'))
  element.append(where)
  if (row.s) element.append(make('p', {class: 'where'}, 'Still open: found on ', time(row.s),
    ', ' + row.g))
  if (row.h) {
    const reason = make('div', {class: 'reason ' + verdict.kind})
    for (const line of row.h) {
      const p = make('p', {})
      p.innerHTML = line
      p.querySelectorAll('time').forEach(setTime)
      reason.append(p)
    }
    element.append(reason)
  }
  const org = columns[verdict.org]
  if (row.f) element.append(table(row.f, 'Fields', org))
  if (row.x) element.append(make('div', {class: 'outside'}, table(row.x, 'Outside the field list, not sent', org)))
  if (row.c) element.append(make('div', {class: 'decide'}, make('p', {}, 'To decide:'),
    make('ul', {}, ...row.c.map(option =>
      command(`attache decide ${data.called} ${row.n} ${data.options[option]}`)))))
  const [soup, entry, file, platform, device, generation] = row.w
  element.append(make('details', {}, make('summary', {}, 'Origin'), make('p', {class: 'where'},
    [`edit ${row.n}`, row.r ? `record ${row.r}` : null, row.l ? `local ID ${row.l}` : null,
      `row ${entry} of soup ${data.soups[soup]}`, `file ${data.files[file]}`,
      `device ${device} (${platform})`, `generation ${generation}`].filter(Boolean).join(' · '))))
  return element
}

// MARK: the list

const words = row => row.words ??= [row.t, row.r, row.l, 'edit ' + row.n, data.objects[row.o],
  data.users[row.u], data.verdicts[row.v].name, data.files[row.w[2]], ...(row.h ?? []),
  ...[...(row.f ?? []), ...(row.x ?? [])].flatMap(field => field.slice(0, 4).map(value =>
    typeof value === 'number' || value === null ? '' : Array.isArray(value) ? value[0] : value))
].join('\n').toLowerCase()
const choice = (id, label, all, names, counted) => {
  const select = make('select', {id}, make('option', {value: ''}, all))
  names.forEach((name, place) => {
    if (!counted || counted[place]) select.append(make('option', {value: place},
      counted ? `${name} (${number.format(counted[place])})` : name))
  })
  return [make('label', {for: id}, label), select]
}
const count = key => {
  const counts = []
  for (const row of rows) counts[row[key]] = (counts[row[key]] ?? 0) + 1
  return counts
}
const search = make('input', {id: 'search', type: 'search', autocomplete: 'off', spellcheck: 'false'})
const field = (...parts) => make('div', {}, ...parts)
const verdict = choice('by-verdict', 'Verdict', 'All', data.verdicts.map(each => each.name), count('v'))
// In addition to the verdicts: all open edits, and those from earlier reports.
const groups = {
  unsettled: ['Unresolved', row => !['written', 'settled'].includes(data.verdicts[row.v].kind)],
  'still-open': ['Open from earlier runs', row => row.s]}
for (const [value, [name, isIn]] of Object.entries(groups)) {
  const many = rows.filter(isIn).length
  if (many) verdict[1].append(make('option', {value}, `${name} (${number.format(many)})`))
}
const user = choice('by-user', 'Technician', 'All', data.users, count('u'))
const object = choice('by-object', 'Object', 'All', data.objects, count('o'))
const sort = choice('sort', 'Order', 'Open first',
  ['Newest edit first', 'Oldest edit first', 'Technician', 'Object and name'])
const status = make('p', {class: 'found', role: 'status'})
const list = make('div', {id: 'list'})
const more = make('button', {type: 'button', class: 'more'})
const bar = make('div', {class: 'tools', role: 'search', 'aria-label': 'Edits'},
  field(make('label', {for: 'search'}, 'Search'), search), field(...verdict), field(...user),
  field(...object), field(...sort))
const byName = new Intl.Collator().compare
const orders = [
  (a, b) => (b.e ?? 0) - (a.e ?? 0), (a, b) => (a.e ?? 0) - (b.e ?? 0), (a, b) => byName(data.users[a.u], data.users[b.u]),
  (a, b) => byName(data.objects[a.o], data.objects[b.o]) || byName(a.t ?? '', b.t ?? '')]
let found = rows
let shown = 0
const grow = () => {
  const next = found.slice(shown, shown + part)
  shown += next.length
  list.append(...next.map(article))
  more.hidden = shown >= found.length
  more.textContent = `Show ${number.format(Math.min(part, found.length - shown))} more`
}
const fill = () => {
  const terms = search.value.toLowerCase().split(/\s+/).filter(Boolean)
  const [v, u, o, by] = [verdict, user, object, sort].map(([, select]) => select.value)
  found = rows.filter(row => (v === '' || (groups[v]?.[1](row) ?? row.v === +v)) && (u === '' || row.u === +u) &&
    (o === '' || row.o === +o) && terms.every(term => words(row).includes(term)))
  if (by !== '') found.sort(orders[by])
  status.textContent = found.length === rows.length ? `${number.format(rows.length)} edits`
    : `${number.format(found.length)} of ${number.format(rows.length)} edits`
  list.replaceChildren()
  shown = 0
  grow()
}
const clear = () => {
  search.value = ''
  for (const [, select] of [verdict, user, object, sort]) select.value = ''
}
// An address whose fragment names a verdict or an edit shows it.
const follow = () => {
  const name = decodeURIComponent(location.hash.slice(1))
  const place = name in groups ? name : data.verdicts.findIndex(each => each.anchor === name)
  if (place !== -1) {
    clear()
    verdict[1].value = place
    fill()
    document.getElementById('edits').scrollIntoView()
  } else if (/^edit-\d+$/.test(name)) {
    if (!document.getElementById(name)) {
      clear()
      search.value = name.replace('-', ' ')
      fill()
      const at = found.findIndex(row => 'edit-' + row.n === name)
      if (at > 0) found.unshift(...found.splice(at, 1))
      list.replaceChildren()
      shown = 0
      grow()
    }
    document.getElementById(name)?.focus()
  }
}
document.querySelectorAll('time').forEach(setTime)
if (rows.length) {
  document.getElementById('edits').replaceChildren(make('section', {class: 'edits'},
    make('h2', {}, 'Edits'), bar, status, list, more))
  fill()
  search.addEventListener('input', fill)
  for (const [, select] of [verdict, user, object, sort]) select.addEventListener('change', fill)
  more.addEventListener('click', () => {
    const next = shown
    grow()
    list.children[next]?.focus({preventScroll: true})
  })
  addEventListener('beforeprint', () => { while (shown < Math.min(found.length, 300)) grow() })
  addEventListener('hashchange', follow)
  follow()
  // The texts to search are prepared in the background.
  let ready = 0
  const prepare = () => {
    const end = Math.min(ready + 2000, rows.length)
    while (ready < end) words(rows[ready++])
    if (ready < rows.length) setTimeout(prepare, 0)
  }
  setTimeout(prepare, 0)
}
document.querySelectorAll('main code.command').forEach(code =>
  code.after(make('button', {type: 'button', 'aria-label': 'Copy ' + code.textContent}, 'Copy')))
addEventListener('click', event => {
  const button = event.target.closest('button[aria-label^="Copy "]')
  if (!button) return
  const selection = getSelection()
  selection.selectAllChildren(button.previousElementSibling)
  document.execCommand('copy')
  selection.removeAllRanges()
  button.textContent = 'Copied'
  setTimeout(() => { button.textContent = 'Copy' }, 1500)
})
addEventListener('keydown', event => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return
  if (event.target.closest('input, select, textarea')) return
  event.preventDefault()
  search.focus()
})
