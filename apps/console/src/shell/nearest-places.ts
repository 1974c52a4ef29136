import type { Area, Place } from './area.ts'

const SHOWN = 4
/** Below it, two words are not alike. */
const ALIKE = 0.5

const pairsOf = (word: string): ReadonlySet<string> =>
  new Set(Array.from({ length: Math.max(word.length - 1, 0) }, (_, at) => word.slice(at, at + 2)))

/** How alike two words are, by the pairs of letters that both have: 1 when they are the same. */
function likeness(one: string, other: string): number {
  const [a, b] = [pairsOf(one), pairsOf(other)]
  const shared = [...a].filter((pair) => b.has(pair)).length
  return a.size + b.size === 0 ? 0 : (2 * shared) / (a.size + b.size)
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[a-z]{2,}/g) ?? []

/** The places whose addresses or names are most like an address that no page has. */
export function nearestPlaces(pathname: string, areas: readonly Area[]): readonly Place[] {
  const wanted = wordsOf(pathname)
  const nearness = ({ to, label }: Place): number =>
    Math.max(0, ...wordsOf(`${to} ${label}`).flatMap((word) => wanted.map((other) => likeness(word, other))))
  return areas
    .flatMap(({ places }) => places)
    .map((place) => ({ place, near: nearness(place) }))
    .filter(({ near }) => near >= ALIKE)
    .toSorted((a, b) => b.near - a.near)
    .slice(0, SHOWN)
    .map(({ place }) => place)
}
