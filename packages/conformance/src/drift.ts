import { subjectOf } from './cause.ts'
import type { Credentials } from './credentials.ts'
import { errorOf, sameJson } from './expect.ts'
import { type Explanation, explain } from './explain.ts'
import { type Fact, type Facts, factsOf } from './facts.ts'
import { operationOf } from './operation.ts'
import { type Reading, settingOf } from './readings.ts'
import type { Exchange } from './recorder.ts'
import type { Result } from './run.ts'

/** A run with everything that was sent and received. */
export interface Recording {
  readonly result: Result
  readonly exchanges: readonly Exchange[]
  readonly credentials: Credentials
}

/** One way in which a server differs from the reference. */
export interface Difference {
  /** Operations that show it. */
  readonly operations: readonly string[]
  /** `status`, `header x`, or the path of a field; `check` where only the outcome of a check shows it. */
  readonly what: string
  readonly server: string
  readonly reference: string
  /** Checks whose requests show it. */
  readonly checks: readonly string[]
  /** The reading of the specification that explains it. */
  readonly reading?: {
    readonly setting: string
    readonly section: string
    readonly server: string
    readonly reference: string
  }
}

interface Seen {
  readonly operation: string
  readonly what: string
  readonly server: string
  readonly reference: string
  readonly checkId: string
  /** The same for what is one difference within an operation. */
  readonly key: string
}

const PUBLISHED = '/.well-known/svc-interpretation.json'
/** From this number of operations on, the same change is one difference of the server. */
const EVERYWHERE_MIN = 3

/**
 * What differs between a server and the reference, each once. `again` is a second run against the reference: what differs
 * between its two runs differs with every request, and is no difference of the servers.
 */
export function differencesOf(
  server: Recording,
  reference: Recording,
  again: Recording,
): readonly Difference[] {
  const seen = seenIn(server, reference, again)
  const readings = readingDifferences(server.result.readings, reference.result.readings)
  const grouped = [...byKey(seen, ({ key }) => key).values()].map(toDifference)
  const merged = mergeOperations(grouped)
  const outcomes = outcomeDifferences(merged, explain(server.result), reference.result)
  return withReadings([...merged, ...outcomes], readings)
}

function seenIn(server: Recording, reference: Recording, again: Recording): readonly Seen[] {
  const [theirs, firsts, seconds] = [server, reference, again].map(byCheck) as [Runs, Runs, Runs]
  const haveSameTenants = sameJson(server.credentials, reference.credentials)
  const found: Seen[] = []
  for (const [checkId, exchanges] of theirs) {
    for (const [i, exchange] of exchanges.entries()) {
      const [one, other] = [firsts.get(checkId)?.[i], seconds.get(checkId)?.[i]]
      if (!one || !other || nameOf(one) !== nameOf(exchange) || exchange.request.path === PUBLISHED) break
      const status = statusSeen(checkId, exchange, one)
      if (status) {
        if (statusText(one) === statusText(other)) found.push(status)
        // What the check does next depends on this response.
        break
      }
      const [a, b, c] = [factsIn(exchange), factsIn(one), factsIn(other)]
      for (const fact of factsSeen(a, b, c, haveSameTenants))
        found.push({ ...fact, operation: nameOf(one), checkId, key: `${scopeOf(one)}|${fact.what}` })
    }
  }
  const down = new Set(
    found
      .filter(({ what, checkId }) => what === 'status' && checkId.endsWith('.status'))
      .map(({ key }) => plainKey(key)),
  )
  return found.map((one) => (down.has(plainKey(one.key)) ? { ...one, key: plainKey(one.key) } : one))
}

type Runs = ReadonlyMap<string, readonly Exchange[]>

const byCheck = ({ exchanges }: Recording): Runs => byKey(exchanges, ({ checkId }) => checkId)

function byKey<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item])
  return groups
}

const nameOf = ({ request }: Exchange): string => operationOf(request.method, request.path).name
const factsIn = ({ response }: Exchange): Facts => (response ? factsOf(response) : new Map())

function statusText({ response }: Exchange): string {
  if (!response) return 'no response'
  const error = errorOf(response)?.error
  return typeof error === 'string' && response.status >= 400
    ? `${response.status} ${error}`
    : `${response.status}`
}

/** Failures of an operation differ by their error code. */
const scopeOf = (exchange: Exchange): string => `${nameOf(exchange)} ${statusText(exchange)}`

/** The key of a status without the check's subject, which matters only while the operation works. */
const plainKey = (key: string): string => key.split('|about ', 1)[0] ?? key

function statusSeen(checkId: string, exchange: Exchange, one: Exchange): Seen | undefined {
  if (exchange.response?.status === one.response?.status) return undefined
  const [server, reference] = [statusText(exchange), statusText(one)]
  const operation = nameOf(one)
  const key = `${operation}|${server}|${reference}`
  // What is refused by both differs in the form of the refusal; else each check's subject is a difference of its own.
  const isForm = [exchange, one].every(({ response }) => (response?.status ?? 0) >= 400)
  const about = isForm ? '' : `|about ${subjectOf(checkId)}`
  return { operation, what: 'status', server, reference, checkId, key: `${key}${about}` }
}

function factsSeen(server: Facts, one: Facts, other: Facts, haveSameTenants: boolean) {
  const found: { what: string; server: string; reference: string }[] = []
  for (const what of new Set([...server.keys(), ...one.keys()])) {
    const [a, b, c] = [server.get(what), one.get(what), other.get(what)]
    if ((b === undefined) !== (c === undefined) || hasAncestor(found, what)) continue
    if (!a || !b)
      found.push({ what, server: a ? showFact(a) : 'nothing', reference: b ? showFact(b) : 'nothing' })
    else if (!c || !sameSet(b.kinds, c.kinds)) continue
    else if (!sameSet(a.kinds, b.kinds))
      found.push({ what, server: [...a.kinds].join(' or '), reference: [...b.kinds].join(' or ') })
    else if (sameSet(b.values, c.values) && !sameSet(a.values, b.values) && isTold(b, haveSameTenants))
      found.push({ what, server: showFact(a), reference: showFact(b) })
  }
  return found
}

/** A field within an object that is missing as a whole says nothing more. */
const hasAncestor = (found: readonly { what: string }[], what: string): boolean =>
  found.some((one) => what.startsWith(`${one.what}.`) || what.startsWith(`${one.what}[]`))

const sameSet = (one: ReadonlySet<string>, other: ReadonlySet<string>): boolean =>
  one.size === other.size && [...one].every((value) => other.has(value))

const VALUES_MAX = 3
const showFact = ({ values, kinds }: Fact): string => {
  const shown = [...values].slice(0, VALUES_MAX).join(', ')
  return (shown === '' ? [...kinds].join(' or ') : shown).slice(0, 80)
}

/** Values of other tenants differ; what every tenant gets alike are flags, names of an enumeration and error codes. */
const COMMON = /^(?:true|false|null|\d|"[A-Z][A-Z_]*"|"[a-z]+(?:_[a-z]+)+"|"Success"|"Failure")$/
const isTold = ({ values }: Fact, haveSameTenants: boolean): boolean =>
  haveSameTenants || [...values].every((value) => COMMON.test(value))

function toDifference(all: readonly Seen[]): Difference {
  const [first] = all
  if (!first) throw new Error('a group has a member')
  const { what, server, reference } = first
  const checks = [...new Set(all.map(({ checkId }) => checkId))]
  return { operations: [...new Set(all.map(({ operation }) => operation))], what, server, reference, checks }
}

/** The same change in many operations is one: a header of every response, a field of every failure. */
function mergeOperations(differences: readonly Difference[]): readonly Difference[] {
  const alike = byKey(differences, ({ what, server, reference }) =>
    JSON.stringify([
      what,
      ...(what === 'status' || !isPresence(server, reference) ? [server, reference] : []),
    ]),
  )
  return [...alike.values()].flatMap((group) => {
    const operations = [...new Set(group.flatMap((one) => one.operations))]
    const [first] = group
    const isOne =
      first && first.what !== 'status' && (operations.length === 1 || operations.length >= EVERYWHERE_MIN)
    if (!isOne) return group
    return [{ ...first, operations, checks: group.flatMap(({ checks }) => checks) }]
  })
}

const isPresence = (server: string, reference: string): boolean =>
  server === 'nothing' || reference === 'nothing'

/** Checks that pass for the reference and fail for the server although no compared part of a response differs. */
function outcomeDifferences(
  known: readonly Difference[],
  { causes }: Explanation,
  reference: Result,
): readonly Difference[] {
  const passed = new Set(
    reference.outcomes.filter(({ status }) => status === 'passed').map(({ check }) => check.id),
  )
  return causes.flatMap(({ failed, example, title }) => {
    const ids = failed.map(({ check }) => check.id).filter((id) => passed.has(id))
    const operation = example?.seen?.operation.name ?? ''
    const fields = example?.about.is === 'fields' ? example.about.paths.map(lastOf) : []
    const isKnown = known.some(
      ({ operations, checks, what }) =>
        operations.includes(operation) ||
        checks.some((id) => ids.includes(id)) ||
        // A record with one wrong field is compared with what another operation returned.
        what.split('.').some((name) => fields.includes(name)),
    )
    if (ids.length === 0 || isKnown) return []
    return [{ operations: [operation], what: 'check', server: title, reference: 'passes', checks: ids }]
  })
}

const lastOf = (path: string): string => path.slice(path.lastIndexOf('.') + 1)

interface ReadingDifference {
  readonly setting: string
  readonly section: string
  readonly server: string
  readonly reference: string
  readonly words: string
}

function readingDifferences(
  server: readonly Reading[],
  reference: readonly Reading[],
): readonly ReadingDifference[] {
  return server.flatMap(({ setting, section, value, words }) => {
    const other = reference.find((one) => one.setting === setting)
    if (!other || other.value === value) return []
    return [{ setting, section, server: value, reference: other.value, words }]
  })
}

/** Differences that a reading explains are one: the reading. */
function withReadings(
  differences: readonly Difference[],
  readings: readonly ReadingDifference[],
): readonly Difference[] {
  const explains = ({ setting }: ReadingDifference, { checks }: Difference) =>
    checks.every((id) => settingOf(id) === setting)
  const rest = differences.filter((one) => !readings.some((reading) => explains(reading, one)))
  const explained = readings.map(({ words, ...reading }): Difference => {
    const own = differences.filter((one) => explains({ words, ...reading }, one))
    const [first] = own
    return {
      operations: [...new Set(own.flatMap(({ operations }) => operations))],
      what: first?.what ?? 'check',
      server: first?.server ?? words,
      reference: first?.reference ?? 'another reading',
      checks: own.flatMap(({ checks }) => checks),
      reading,
    }
  })
  return [...rest, ...explained]
}
