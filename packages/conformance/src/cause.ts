import type { Check } from './check.ts'
import type { Failed, Seen } from './failure.ts'

/** What a failed check says of the cause: which failures share it, and which have no meaning while it lasts. */
export interface Root {
  /** The same for failures with one cause. */
  readonly key: string
  /** Nothing of the response can be used, so one failure reports it and every other is blocked by it. */
  readonly isWhole: boolean
  /** Causes that explain this failure where they exist. */
  readonly parents: readonly string[]
  /** The cause on one line, without its counts. */
  readonly title: string
}

/** A field at this place is missing or wrong in many records alike. */
export const placeOf = (path: string): string => path.replace(/\.\d+(?=\.|$)/g, '[]')

/** What the check is about: `email` of `4.3.email.no-at`, `token` of `5.search.token.missing`. */
export function subjectOf(id: string): string {
  const [, section, rest = id] = /^(\d(?:\.\d)?)\.(.*)$/.exec(id) ?? []
  const words = rest.split('.')
  return (section === '5' ? words[1] : words[0]) ?? rest
}

const statusOf = ({ status, error }: Seen): string =>
  error === undefined ? `${status}` : `${status} ${error}`

const whole = (key: string, title: string): Root => ({ key, isWhole: true, parents: [], title })

/** Failure bodies have one envelope, so what is wrong with it is one cause for all operations (spec §2.2, §7). */
const scopeOf = ({ status, operation }: Seen): string => (status >= 400 ? 'failures' : operation.name)
const scopeTitle = ({ status, operation }: Seen): string =>
  status >= 400 ? `the failure body of ${operation.name}` : operation.name

/** The cause of one failure. `down`: names of operations whose plainest valid request fails. */
export function rootOf(check: Check, failed: Failed, down: ReadonlySet<string>): Root {
  const { about, seen, received, expected } = failed
  if (!seen) return { key: `check|${check.id}`, isWhole: false, parents: [], title: oddTitle(check, failed) }
  const { operation, status, contentType, isJson } = seen
  const { name } = operation
  if (status === 0) return whole(`${name}|silence`, `${name} gives no response: ${received}`)
  if (status >= 500) return whole(`${name}|${status}`, `${name} returns ${statusOf(seen)}`)
  const refuses = `${name}|refuses|${statusOf(seen)}`
  const format = `${scopeOf(seen)}|format`
  const parents = [refuses, ...(isJson ? [] : [format])]
  switch (about.is) {
    case 'status':
      return statusRoot(check, seen, about.wanted, { refuses, isDown: down.has(name), expected })
    case 'format': {
      const type = contentType ?? 'no content type'
      const title = `${scopeTitle(seen)} ${isJson ? `is said to be ${type}` : `is not JSON (${type})`}`
      return isJson
        ? { key: `${format}|type`, isWhole: false, parents: [format], title }
        : whole(format, title)
    }
    case 'accepted':
      return acceptedRoot(check, seen, parents)
    case 'fields':
      return fieldsRoot(failed, about, seen, parents)
    default:
      return {
        key: `${name}|other|${expected.slice(0, 40)}`,
        isWhole: false,
        parents: [...parents, 'failures|payload', `${name}|payload`],
        title: `${name}: ${oddTitle(check, failed)}`,
      }
  }
}

const oddTitle = ({ title }: Check, { expected, received }: Failed): string =>
  `${title} – expected ${expected}, received ${received}`

function acceptedRoot({ id, source, title }: Check, { operation: { name } }: Seen, parents: string[]): Root {
  return {
    key: `${name}|accepts|${subjectOf(id)}`,
    isWhole: false,
    parents,
    title: `${name} does not keep ${source}: ${title}`,
  }
}

interface StatusFacts {
  readonly refuses: string
  readonly isDown: boolean
  readonly expected: string
}

function statusRoot(
  check: Check,
  seen: Seen,
  wanted: readonly number[],
  { refuses, isDown, expected }: StatusFacts,
): Root {
  const { name } = seen.operation
  const wantsSuccess = wanted.every((status) => status < 300)
  if (!wantsSuccess && seen.status < 300) return acceptedRoot(check, seen, [])
  if (wantsSuccess && isDown)
    return whole(refuses, `${name} returns ${statusOf(seen)} to a valid request, expected ${expected}`)
  const word = wantsSuccess ? subjectOf(check.id) : wanted.join()
  return {
    key: `${refuses}|${word}`,
    isWhole: false,
    parents: [],
    title: `${name} returns ${statusOf(seen)}, expected ${expected}: ${check.title}`,
  }
}

function fieldsRoot(
  { expected, received }: Failed,
  { paths, problem }: { readonly paths: readonly string[]; readonly problem: 'missing' | 'extra' | 'value' },
  seen: Seen,
  parents: readonly string[],
): Root {
  const scope = scopeOf(seen)
  const places = paths.map(placeOf)
  const first = places[0] ?? ''
  const steps = first.split('.')
  const above = steps.slice(1).map((_, i) => `${scope}|${steps.slice(0, i + 1).join('.')}`)
  const where = scopeTitle(seen)
  const titles = {
    missing: `${where} lacks ${places.join(', ')}`,
    extra: `${where} has ${places.join(', ')}, which is not documented`,
    value: `${where}: ${first} is ${received}, expected ${expected.slice(expected.indexOf(': ') + 2)}`,
  }
  return {
    key: `${scope}|${first}`,
    isWhole: false,
    // A check of several fields says nothing more where each of them has a check of its own.
    parents: [...parents, ...above, ...(places.length > 1 ? places.map((place) => `${scope}|${place}`) : [])],
    title: titles[problem],
  }
}
