import Reports

extension ReviewPage {
  /// The details of one edit with the values of its sides.
  static let detailScript = #"""

    // One edit.

    async function showDetail() {
      const edit = current()
      if (!edit) {
        $('detail').replaceChildren(make('p', {className: 'soft'}, state.edits.length === 0
          ? 'No open edits: every edit is resolved.' : 'No edit matches the filters.'))
        return
      }
      // Do not rebuild the pane while the user is typing; do it afterwards.
      const typing = document.activeElement?.matches?.('#detail input[type=text]')
      if (typing && state.pane === edit.edit) { state.isStale = true; return }
      if (state.pane !== edit.edit) $('detail').replaceChildren()
      state.pane = edit.edit
      state.isStale = false
      if (!state.details.has(edit.edit)) {
        const around = state.shown.slice(state.at, state.at + 50).map(one => one.edit)
          .filter(number => !state.details.has(number))
        try {
          await refresh(around)
        } catch (error) {
          $('detail').replaceChildren(trouble(error))
          return
        }
      }
      if (current()?.edit !== edit.edit) return
      const detail = state.details.get(edit.edit)
      if (!detail) {
        $('detail').replaceChildren(make('p', {className: 'note'},
          'This edit is no longer open; reload the page.'))
        return
      }
      const focused = document.activeElement?.closest?.('#detail') && document.activeElement.id
      $('detail').replaceChildren(...parts(edit, detail).filter(Boolean))
      if (focused) document.getElementById(focused)?.focus()
      if (!state.looked.has(edit.edit)) lookAround()
    }

    const did = {create: 'created', update: 'changed', delete: 'deleted',
      dropped: 'created and deleted', synced: 'sent'}

    function parts(edit, detail) {
      const change = detail.serverChange
      return [
        make('h2', {}, detail.name),
        make('p', {className: 'soft'}, `${edit.object} ${did[detail.operation] ?? ''} by `,
          make('b', {}, edit.user), ...(detail.editedAt ? [' on ', time(detail.editedAt)] : []),
          ` · open since `, time(detail.since),
          edit.id ? make('span', {}, ' · ', make('code', {}, edit.id)) : null,
          detail.link ? make('span', {}, ' · ', make('a', {href: detail.link, target: '_blank',
            rel: 'noreferrer'}, 'Open in the org')) : null),
        make('p', {}, make('span', {className: 'verdict ' + kind(detail.verdict)}, detail.verdict),
          ' ', detail.meaning),
        detail.message ? make('p', {className: 'note'}, detail.message) : null,
        change ? make('p', {className: 'soft', id: 'server-change'}, 'Changed in the org by ',
          make('b', {}, change.user ?? `user ${change.by}`), ' on ', time(change.at),
          ', after the device read it.') : null,
        detail.now ? now(detail.now) : null,
        detail.decided ? make('p', {className: 'note good'}, `Decided by ${detail.decided.by}: `
          + `${words[detail.decided.decision]}. The next run applies it.`) : null,
        detail.noBase ? make('p', {className: 'soft'},
          'The values that the device received are unknown, so its changes cannot be identified.') : null,
        actions(edit, detail), fields(edit, detail), outside(detail), ...deviceConflicts(detail), candidates(edit, detail),
        make('details', {className: 'soft'}, make('summary', {}, 'Origin'),
          make('p', {}, `edit ${detail.edit} · ${detail.soup} row ${detail.row} · device `
            + `${detail.device} (${detail.platform}) · ${detail.source}`),
          ...detail.commands.map(command => make('p', {}, code(command))))
      ]
    }

    /** A command, in which no option is broken at the end of a line, nor separated from a short value. */
    function code(command) {
      return make('code', {}, ...command.split(/(?<!\S)(--\S+(?: (?!-)\S{1,16}(?!\S))?)/).map(
        (piece, place) => place % 2 ? make('span', {className: 'o'}, piece) : piece))
    }

    /** A time in the reader's time zone. */
    function time(text) {
      return make('time', {dateTime: text}, new Date(text).toLocaleString())
    }

    /** The expected verdict, if it differs from that of the last run. */
    function now(found) {
      return make('p', {className: 'note'}, `If retried now: ${found.verdict}. `,
        found.message ?? found.meaning)
    }

    const columns = \#(FieldColumn.json.text)
    const deciding = \#(keysOfDecisions.text)
    const capital = text => text[0].toUpperCase() + text.slice(1)
    function actions(edit, detail) {
      const chosen = state.choices.get(edit.edit)
      const buttons = Object.entries(deciding).filter(([kind]) => detail.possible.includes(kind))
        .map(([kind, key]) => make('button', {
          type: 'button', id: `choose-${kind}`,
          'aria-pressed': String(chosen?.decision === kind), onclick: () => chooseHere(kind, edit)
        }, capital(words[kind]) + ' ', make('kbd', {}, key)))
      if (chosen) {
        buttons.push(make('button', {type: 'button', id: 'choose-none',
          onclick: () => chooseHere(null, edit)}, 'Clear ', make('kbd', {}, 'u')))
      }
      return make('div', {className: 'actions', role: 'group', 'aria-label': 'Decide'}, ...buttons)
    }

    // Fields.

    /** The side whose value of a field the choice uses. */
    function side(choice, field) {
      if (!choice) return null
      if (choice.decision === 'device') return field.edited ? 'device' : 'server'
      if (choice.decision === 'server') return 'server'
      if (choice.decision !== 'set') return null
      const own = choice.fields[field.name]
      if (own) return own.take ?? 'text'
      return field.edited ? choice.rest ?? (field.conflicting ? null : 'device') : 'server'
    }

    /** Sets or clears the choice for one field. The choices for other fields stay. The plan asks
     *  about undecided fields that both sides changed. */
    function chooseField(edit, detail, name, own) {
      const before = state.choices.get(edit.edit)
      const chosen = {}
      let isOpen = false
      for (const field of detail.fields) {
        const old = before?.fields?.[field.name]
        const stands = field.name === name ? null
          : side(before, field) ?? (field.conflicting ? null : field.edited ? 'device' : 'server')
        if (field.name === name && own) chosen[name] = own
        else if (stands) chosen[field.name] = stands === 'text' ? old : {take: stands}
        else if (field.edited) isOpen = true
      }
      if (own && !(name in chosen)) chosen[name] = own
      for (const [other, value] of Object.entries(before?.fields ?? {})) {
        if (!(other in chosen) && other !== name) chosen[other] = value
      }
      const edited = new Set(detail.fields.filter(field => field.edited).map(field => field.name))
      const sides = Object.entries(chosen)
      const isWhole = which => !isOpen && sides.every(([field, value]) =>
        value.take === (edited.has(field) ? which : 'server'))
      if (isWhole('device') && choose(edit, {decision: 'device'})) return
      if (isWhole('server') && choose(edit, {decision: 'server'})) return
      if (isOpen) {
        const said = sides.filter(([field, value]) => edited.has(field) || value.take !== 'server')
        choose(edit, said.length === 0 ? null
          : {decision: 'set', fields: Object.fromEntries(said)})
        return
      }
      const fields = Object.fromEntries(sides.filter(([, value]) => value.take !== 'server'))
      if (Object.keys(fields).length === 0) { choose(edit, null); return }
      const rest = sides.some(([field, value]) => edited.has(field) && value.take === 'server')
        ? 'server' : 'device'
      choose(edit, {decision: 'set', fields, rest})
    }

    function fields(edit, detail) {
      const isOpen = detail.possible.includes('set')
      if (detail.fields.length === 0 && !isOpen) return null
      const hasBase = detail.fields.some(field => 'base' in field)
      const hasServer = detail.fields.some(field => 'server' in field || field.masked)
      const head = ['Field', ...(hasBase ? [columns.base.title] : []), columns.device.title,
        ...(hasServer ? [columns.server.title] : []), ...(isOpen ? ['Another value'] : [])]
      const rows = detail.fields.map((field, index) => fieldRow(
        edit, detail, field, index, isOpen, hasBase, hasServer))
      return make('div', {}, detail.fields.length === 0 ? null : make('table',
        {className: 'fields'},
        make('caption', {}, detail.looked && !detail.now ? 'With the org’s current values'
          : 'With the values of the last report'),
        make('thead', {}, make('tr', {}, ...head.map(text => make('th', {scope: 'col'}, text)))),
        make('tbody', {}, ...rows)), isOpen ? furtherField(edit, detail) : null)
    }

    function fieldRow(edit, detail, field, index, isOpen, hasBase, hasServer) {
      const stands = side(state.choices.get(edit.edit), field)
      const typed = state.choices.get(edit.edit)?.fields?.[field.name]?.text
      const again = own => {
        chooseField(edit, detail, field.name, own)
        tell()
        later()
      }
      const cell = (which, other) => {
        const value = shown(field, which, other)
        const label = columns[which].label
        if (!isOpen || !(which in field || field.masked)) {
          return make('td', {'data-label': label}, value)
        }
        const id = `field-${index}-${which}`
        return make('td', {'data-label': label}, make('label', {htmlFor: id}, make('input', {
          type: 'radio', name: `field-${index}`, id, checked: stands === which,
          'aria-label': `${field.name}: ${label}`, onchange: () => again({take: which})
        }), value))
      }
      const box = () => {
        const id = `field-${index}-text`
        const start = typed ?? ''
        return make('td', {'data-label': 'Another value'}, make('input', {
          type: 'text', id, value: start, autocomplete: 'off',
          'aria-label': `${field.name}: another value`,
          onchange: event => {
            const text = event.target.value
            if (text !== start) again(text === '' ? null : {text})
          }
        }), make('button', {type: 'button', id: `field-${index}-empty`,
          'aria-pressed': String(typed === ''), 'aria-label': `${field.name}: clear the value`,
          onclick: () => again(typed === '' ? null : {text: ''})}, 'Clear'))
      }
      return make('tr', {className: field.conflicting ? 'both' : field.edited ? '' : 'theirs',
        'data-field': field.name}, make('th', {scope: 'row'}, field.name),
        hasBase ? make('td', {'data-label': columns.base.label}, shown(field, 'base')) : null,
        cell('device', 'server'), hasServer ? cell('server', 'device') : null,
        isOpen ? box() : null)
    }

    /** Edited fields that are not sent, because no sync up lists them. */
    function outside(detail) {
      return !detail.outside ? null : make('details', {}, make('summary', {},
        `Also edited, but not sent: ${detail.outside.map(field => field.name).join(', ')}`),
        ...detail.outside.map(field => make('p', {}, make('b', {}, field.name), ': ',
          shown(field, 'device'))))
    }

    /** Rebuilds list and pane a moment later, so that a click in progress still finds its button. */
    function later() {
      setTimeout(() => { draw(); showDetail() }, 150)
    }

    /** A field that the edit does not have, such as one that the org requires. */
    function furtherField(edit, detail) {
      const own = Object.entries(state.choices.get(edit.edit)?.fields ?? {})
        .filter(([name, value]) => 'text' in value
          && !detail.fields.some(field => field.name === name))
      const [field, value] = ['name', 'value'].map(which => make('input', {
        type: 'text', id: `further-${which}`, autocomplete: 'off',
        'aria-label': which === 'name' ? 'Another field' : 'Its value',
        placeholder: which === 'name' ? 'Field' : 'Value'
      }))
      const add = () => {
        if (!field.value.trim()) return
        chooseField(edit, detail, field.value.trim(), {text: value.value})
        draw()
        showDetail()
      }
      return make('details', {open: own.length > 0}, make('summary', {}, 'Set another field'),
        ...own.map(([name, value]) => make('p', {}, make('b', {}, name), ` = ${said(value.text)}`)),
        make('p', {className: 'actions'}, field, value,
          make('button', {type: 'button', onclick: add}, 'Set')))
    }

    function shown(field, which, other) {
      if (field.masked) return make('span', {className: 'empty'}, placeholders.masked)
      if (!(which in field)) return make('span', {className: 'empty'}, placeholders.unknown)
      if (field[which] === null || field[which] === '') {
        return make('span', {className: 'empty'}, placeholders.empty)
      }
      const text = said(field[which])
      const against = other && other in field ? said(field[other]) : null
      const length = field.lengths?.[which]
      const rest = [against !== null && field.differsLater ? make('mark', {}, ' …') : null,
        length ? make('i', {}, ` … ${length.toLocaleString()} characters`) : null].filter(Boolean)
      if (against === null || against === text || field[other] === null) {
        return make('span', {className: long(text)}, text, ...rest)
      }
      return make('span', {className: long(text)}, ...difference(text, against), ...rest)
    }

    /** The class of a text in which a part may be wider than its column; other words are never broken. */
    function long(text) { return /\S{25}/.test(text) ? 'long' : '' }

    /** A text with the characters marked that another one does not have. */
    function difference(text, other) {
      const [a, b] = [[...text], [...other]]
      let start = 0
      while (start < a.length && start < b.length && a[start] === b[start]) start++
      let end = 0
      while (end < a.length - start && end < b.length - start
        && a[a.length - 1 - end] === b[b.length - 1 - end]) end++
      const [left, right] = [a.slice(start, a.length - end), b.slice(start, b.length - end)]
      const whole = 400
      let kept = left.length > whole || right.length > whole ? new Set() : common(left, right)
      // Texts with little in common are marked whole, not letter by letter.
      if (kept.size * 2 < Math.max(left.length, right.length)) kept = new Set()
      const pieces = []
      const add = (text, isMarked) => {
        const last = pieces.at(-1)
        if (last && last.isMarked === isMarked) last.text += text
        else pieces.push({text, isMarked})
      }
      a.slice(0, start).forEach(character => add(character, false))
      left.forEach((character, index) => add(character, !kept.has(index)))
      a.slice(a.length - end).forEach(character => add(character, false))
      return pieces.map(({text, isMarked}) => isMarked ? make('mark', {}, text) : text)
    }

    /** The indexes of the longest common subsequence of two texts. */
    function common(a, b) {
      const width = b.length + 1
      const length = new Uint16Array((a.length + 1) * width)
      for (let i = a.length - 1; i >= 0; i--) {
        for (let j = b.length - 1; j >= 0; j--) {
          length[i * width + j] = a[i] === b[j] ? length[(i + 1) * width + j + 1] + 1
            : Math.max(length[(i + 1) * width + j], length[i * width + j + 1])
        }
      }
      const places = new Set()
      let [i, j] = [0, 0]
      while (i < a.length && j < b.length) {
        if (a[i] === b[j]) { places.add(i); i++; j++ }
        else if (length[(i + 1) * width + j] >= length[i * width + j + 1]) i++
        else j++
      }
      return places
    }

    // Device conflicts and unconfirmed creates.

    function deviceConflicts(detail) {
      return detail.others.map(other => {
        const names = [...new Set([...detail.fields, ...other.fields].map(field => field.name))]
        const value = (fields, name) => {
          const field = fields.find(field => field.name === name)
          return field ? shown(field, 'device') : make('span', {className: 'empty'}, 'not changed')
        }
        const isDeletion = [detail.operation, other.operation].includes('delete')
        const text = isDeletion ? 'One of the two edits deletes the record.'
          : other.overlap.length > 0 ? `They differ in ${other.overlap.join(', ')}.`
            : 'No field overlaps: both can be sent.'
        return make('section', {}, make('h3', {}, `The other device’s edit ${other.edit}`),
          make('p', {className: 'soft'}, `${did[other.operation] ?? ''} by ${other.user}, device `
            + `${other.device}; ${other.verdict}. `, make('b', {}, text)),
          names.length === 0 ? null : make('table', {className: 'fields'},
            make('thead', {}, make('tr', {}, ...['Field', 'This device', 'The other'].map(
              text => make('th', {scope: 'col'}, text)))),
            make('tbody', {}, ...names.map(name => make('tr', {},
              make('th', {scope: 'row'}, name),
              make('td', {'data-label': 'This device'}, value(detail.fields, name)),
              make('td', {'data-label': 'The other'}, value(other.fields, name)))))))
      })
    }

    function candidates(edit, detail) {
      if (!detail.possible.includes('record')) return null
      const chosen = state.choices.get(edit.edit)
      const take = id => {
        if (!/^([a-zA-Z0-9]{15}|[a-zA-Z0-9]{18})$/.test(id)) {
          tell('An ID has 15 or 18 letters and digits.')
          return
        }
        choose(edit, {decision: 'record', record: id})
        draw()
        showDetail()
      }
      const ids = [...new Set([...(detail.candidates ?? []), detail.otherId, detail.recordId]
        .filter(Boolean))]
      const other = make('input', {type: 'text', id: 'record', autocomplete: 'off',
        'aria-label': 'ID of the record', value: chosen?.record ?? ''})
      return make('section', {}, make('h3', {}, 'Which record is it?'),
        ...ids.map((id, index) => {
          const values = Object.entries(state.candidates[id] ?? {})
            .filter(([name]) => name !== 'Id')
          return make('div', {className: 'note'},
            make('p', {}, make('button', {
              type: 'button', id: `record-${index}`,
              'aria-pressed': String(chosen?.record === id), onclick: () => take(id)
            }, 'Use ', make('code', {}, id))),
            values.length === 0 ? null : make('dl', {}, ...values.flatMap(([name, value]) =>
              [make('dt', {}, name), make('dd', {}, value === '' ? placeholders.empty : value)])))
        }),
        make('p', {className: 'actions'}, other, make('button', {type: 'button',
          onclick: () => take(other.value.trim())}, 'Use this one')))
    }

    """#
}
