import type { Area, Place } from './area.ts'

export interface Act extends Place {
  readonly detail: string
}

const SHOWN = 5

/** Whether a text begins with what was typed, at its begin or at that of a word. */
const beginsIn = (label: string, typed: string): boolean =>
  ` ${label.toLowerCase()}`.includes(` ${typed.toLowerCase()}`)

/** Places and actions that begin with what was typed, those first whose name does. */
export function actsOf(typed: string, areas: readonly Area[], acts: readonly Place[]): readonly Act[] {
  if (typed === '') return []
  const all = [
    ...areas.flatMap(({ label: area, places }) =>
      places.flatMap(({ tabs = [], ...place }) => [
        { ...place, detail: area },
        ...tabs.filter(({ label }) => label !== place.label).map((tab) => ({ ...tab, detail: area })),
      ]),
    ),
    ...acts.map(({ label, to }) => ({ to, label, detail: 'Action' })),
  ]
  const isFirst = ({ label }: Act) => label.toLowerCase().startsWith(typed.toLowerCase())
  return all
    .filter(({ label }) => beginsIn(label, typed))
    .toSorted((a, b) => Number(isFirst(b)) - Number(isFirst(a)))
    .slice(0, SHOWN)
}
