import type { ComponentType } from 'react'

/** Pages that stand side by side at one place. */
export interface Tab {
  readonly to: string
  readonly label: string
}

export interface Place {
  readonly to: string
  /** Its pages, the first of which is its own, where it has several. */
  readonly tabs?: readonly Tab[]
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
export const areasWith = <May extends object>(
  areas: readonly Area<Place & May & { readonly tabs?: readonly (Tab & May)[] }>[],
  may: (placeOrTab: May) => boolean,
): readonly Area[] =>
  areas
    .map(({ places, ...area }) => ({
      ...area,
      places: places.filter(may).map((place) => ({
        ...place,
        ...(place.tabs && { tabs: place.tabs.filter(may) }),
      })),
    }))
    .filter(({ places }) => places.length > 0)

interface Address {
  readonly pathname: string
  readonly search: Readonly<Record<string, unknown>>
}

/** Whether an address is this one, or below it. */
export const isIn = (path: string, to: string): boolean =>
  to === '/' ? path === '/' : path === to || path.startsWith(`${to}/`)

/** The place that an address belongs to; one that filters a list, only while the list has that filter. */
export function placeAt(areas: readonly Area[], { pathname, search }: Address): Place | undefined {
  const depthOf = ({ to, tabs = [] }: Place) =>
    Math.max(0, ...[to, ...tabs.map((tab) => tab.to)].map((each) => (isIn(pathname, each) ? each.length : 0)))
  const places = areas.flatMap((area) => area.places)
  const depth = Math.max(1, ...places.map(depthOf))
  const there = places.filter((place) => depthOf(place) === depth)
  const isFiltered = (place: Place) =>
    Object.entries(place.search ?? {}).every(([name, value]) => search[name] === value)
  return there.find((place) => place.search && isFiltered(place)) ?? there.find((place) => !place.search)
}
