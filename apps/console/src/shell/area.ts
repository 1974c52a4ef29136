import type { ComponentType } from 'react'

export interface Place {
  readonly to: string
  readonly search?: Readonly<Record<string, string>>
  readonly label: string
  /** Reached from another page, so that the menu does not list it. */
  readonly behind?: true
}

/** Places that belong together, of which the menu unfolds those of the current one. */
export interface Area<One extends Place = Place> {
  readonly label: string
  /** Goes to its first place after `g`. */
  readonly key: string
  readonly Icon: ComponentType
  readonly places: readonly One[]
}

/** What remains of areas to a person, without those in which nothing does. */
export const areasWith = <Of extends Area>(
  areas: readonly Of[],
  may: (place: Of['places'][number]) => boolean,
): readonly Area[] =>
  areas
    .map(({ places, ...area }) => ({ ...area, places: places.filter(may) }))
    .filter(({ places }) => places.length > 0)

interface Address {
  readonly pathname: string
  readonly search: Readonly<Record<string, unknown>>
}

const isIn = (path: string, to: string): boolean =>
  to === '/' ? path === '/' : path === to || path.startsWith(`${to}/`)

/** The place that an address belongs to; one that filters a list, only while the list has that filter. */
export function placeAt(areas: readonly Area[], { pathname, search }: Address): Place | undefined {
  const there = areas.flatMap(({ places }) => places).filter(({ to }) => isIn(pathname, to))
  const isFiltered = (place: Place) =>
    Object.entries(place.search ?? {}).every(([name, value]) => search[name] === value)
  return there.find((place) => place.search && isFiltered(place)) ?? there.find((place) => !place.search)
}
