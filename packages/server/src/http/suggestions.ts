import { fail } from '@svc/contract/errors'
import { distance } from 'fastest-levenshtein'
import type { FastifyInstance, FastifyRequest } from 'fastify'

const NAME_MAX = 64

/** How far a name is from another: case, `-` and `_` do not count, and a plural is one letter. */
function distanceOf(name: string, other: string): number {
  const [a, b] = [name, other].map((each) => each.toLowerCase().replaceAll(/[-_]/g, ''))
  if (a === b) return 0
  const isPlural =
    `${a}s` === b || `${b}s` === a || a!.replace(/y$/, 'ies') === b || b!.replace(/y$/, 'ies') === a
  return isPlural ? 1 : distance(a!, b!)
}

/** Names of up to three letters are too short to have been meant by another; two letters that changed places count as two. */
const allowed = (name: string): number => (name.length <= 3 ? 0 : name.length <= 4 ? 1 : 2)

/** The known name that was probably meant. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  if (name.length > NAME_MAX) return undefined
  const [best] = known
    .map((each) => ({ each, far: distanceOf(name, each) }))
    .filter(({ far }) => far <= allowed(name))
    .sort((a, b) => a.far - b.far)
  return best?.each
}

interface Route {
  readonly method: string
  readonly path: string
  readonly segments: readonly string[]
}

const segmentsOf = (path: string): string[] => path.split('/').filter((segment) => segment !== '')

/** How far a path is from a route, which may also lack its beginning; `undefined` where it is another one. */
function farness(sent: readonly string[], { segments }: Route): number | undefined {
  const skipped = segments.length - sent.length
  if (sent.length === 0 || (skipped !== 0 && !(skipped === 2 && segments[0] === 'api'))) return undefined
  let far = skipped
  for (const [i, segment] of sent.entries()) {
    const own = segments[i + skipped]!
    if (own.startsWith(':')) continue
    const each = segment === own ? 0 : distanceOf(segment, own)
    if (segment.length > NAME_MAX || each > allowed(own)) return undefined
    far += each
  }
  return far
}

/** Returns what refuses a request that finds no operation: with the one that was probably meant, out of all of the server. */
export function suggestRoutes(app: FastifyInstance): (request: FastifyRequest) => never {
  const routes: Route[] = []
  app.addHook('onRoute', ({ method, url, config }) => {
    const isOperation = config !== undefined && 'operation' in config && typeof method === 'string'
    if (isOperation && method !== 'HEAD' && !url.includes('*'))
      routes.push({ method, path: url.replaceAll(/:(\w+)/g, '{$1}'), segments: segmentsOf(url) })
  })
  return ({ method, url }) => {
    const sent = segmentsOf(url.split('?', 1)[0]!)
    const [best] = routes
      .map((route) => ({ route, far: farness(sent, route) }))
      .filter(({ far }) => far !== undefined)
      .sort(
        (a, b) => a.far! - b.far! || Number(b.route.method === method) - Number(a.route.method === method),
      )
    if (!best) fail('route_not_found')
    const { route } = best
    fail('route_not_found', {
      description: `Operation not found: did you mean ${route.method} ${route.path}?`,
    })
  }
}
