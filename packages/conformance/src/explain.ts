import { type Root, rootOf } from './cause.ts'
import type { Origin } from './check.ts'
import type { Failed } from './failure.ts'
import { type Reading, settingOf } from './readings.ts'
import type { Outcome, Result } from './run.ts'

/** One thing to fix, with every check that fails or cannot be made because of it. */
export interface Cause {
  readonly title: string
  readonly origin: Origin
  /** Where the specification, or a decision, says otherwise. */
  readonly source: string
  /** Checks that show the cause. */
  readonly failed: readonly Outcome[]
  /** Checks that can say nothing while the cause lasts. */
  readonly blocked: readonly Outcome[]
  /** What the server sent, where a response shows the cause. */
  readonly example: Failed | undefined
}

export interface Explanation {
  /** What to fix first: of the specification before decisions, then by the checks that wait for it. */
  readonly causes: readonly Cause[]
  /** As in the result; failures that only follow from another one are blocked. */
  readonly outcomes: readonly Outcome[]
}

interface Found {
  readonly root: Root
  readonly outcome: Outcome
  readonly failed: Failed
}

/** Fields of one object that are wrong alike are one cause from this number on. */
const ALIKE_MIN = 4

/** Groups what failed by its cause. */
export function explain({ outcomes, readings }: Result): Explanation {
  const down = downOperations(outcomes)
  const found: Found[] = []
  for (const outcome of outcomes) {
    const failed = outcome.failure
    if (outcome.status === 'failed' && failed)
      found.push({
        outcome,
        failed,
        root: readingRoot(outcome, readings) ?? rootOf(outcome.check, failed, down),
      })
  }
  const groups = groupByRoot(found)
  for (const outcome of outcomes) if (outcome.status === 'blocked') addBlocked(groups, outcome, down)
  const causes = mergeAlike([...groups.values()])
    .map(toCause)
    .sort(byUrgency)
  return { causes, outcomes: relabel(outcomes, causes) }
}

interface Group {
  readonly key: string
  readonly title: string
  readonly failed: Outcome[]
  readonly blocked: Outcome[]
  readonly example: Failed | undefined
}

/** Operations of which the plainest valid request fails: what else fails there follows from that. */
function downOperations(outcomes: readonly Outcome[]): ReadonlySet<string> {
  const names = outcomes
    .filter(({ check, failure }) => check.id.endsWith('.status') && failure?.about.is === 'status')
    .filter(({ failure }) => failure?.about.is === 'status' && failure.about.wanted.includes(200))
    .map(({ failure }) => failure?.seen?.operation.name)
  return new Set(names.filter((name) => name !== undefined))
}

/** A failure that comes of a reading of the specification that the server does not publish. */
function readingRoot({ check }: Outcome, readings: readonly Reading[]): Root | undefined {
  const setting = settingOf(check.id)
  const reading = readings.find((one) => one.setting === setting && one.value !== one.held)
  if (!reading) return undefined
  return { key: `reading|${reading.setting}`, isWhole: false, parents: [], title: readingText(reading) }
}

/** A reading as a sentence. */
export const readingText = ({ section, words, setting, value }: Reading): string =>
  `your server reads section ${section} as: ${words} (${setting}=${value})`

function groupByRoot(found: readonly Found[]): Map<string, Group> {
  const groups = new Map<string, Group>()
  const keys = new Set(found.map(({ root }) => root.key))
  const follows = ({ root }: Found) => root.parents.find((key) => key !== root.key && keys.has(key))
  const rest: Found[] = []
  for (const one of found) {
    if (follows(one) !== undefined) rest.push(one)
    else {
      const { root, outcome, failed } = one
      const group = groups.get(root.key)
      if (!group) groups.set(root.key, newGroup(root, failed, [outcome]))
      else (root.isWhole ? group.blocked : group.failed).push(outcome)
    }
  }
  for (const one of rest) {
    // The cause of a cause may be further up; the first that is a group of its own explains the failure.
    const key = one.root.parents.find((parent) => groups.has(parent))
    const group = key === undefined ? undefined : groups.get(key)
    if (group) group.blocked.push(one.outcome)
    else groups.set(one.root.key, newGroup(one.root, one.failed, [one.outcome]))
  }
  return groups
}

const newGroup = ({ key, title }: Root, example: Failed | undefined, failed: Outcome[]): Group => ({
  key,
  title,
  failed,
  blocked: [],
  example,
})

/** A blocked check waits for a cause that another check reports, or for one that only it knows. */
function addBlocked(groups: Map<string, Group>, outcome: Outcome, down: ReadonlySet<string>): void {
  const { needs, check, reason = '' } = outcome
  const root = needs && rootOf(check, needs, new Set([...down, needs.seen?.operation.name ?? '']))
  const known = root
    ? ([root.key, ...root.parents].map((key) => groups.get(key)).find((group) => group !== undefined) ??
      [...groups.values()].find(({ key }) => key.startsWith(`${root.key}|`)))
    : [...groups.values()].find(({ key }) => key.endsWith('|silence'))
  const key = root?.key ?? `blocked|${reason}`
  const group = known ?? groups.get(key)
  if (group) group.blocked.push(outcome)
  else {
    const one = newGroup(root ?? { key, isWhole: true, parents: [], title: reason }, needs, [])
    one.blocked.push(outcome)
    groups.set(key, one)
  }
}

/** Where the fields of one object are wrong alike: the object and what is wrong. Other causes stay apart. */
function mergeKeyOf({ key, example }: Group): string {
  const about = example?.about
  if (about?.is !== 'fields' || about.problem === 'extra' || key.startsWith('reading|')) return key
  const object = key.slice(0, Math.max(key.lastIndexOf('.'), key.lastIndexOf('|')) + 1)
  return `${object}|${about.problem}`
}

/** Fields of one object that are all missing, or all of another value, were left out or mistaken together. */
function mergeAlike(groups: readonly Group[]): readonly Group[] {
  const merged = new Map<string, Group[]>()
  for (const group of groups) {
    const similar = merged.get(mergeKeyOf(group))
    if (similar) similar.push(group)
    else merged.set(mergeKeyOf(group), [group])
  }
  return [...merged.values()].flatMap((similar) => {
    const [first] = similar
    if (!first || similar.length < ALIKE_MIN) return similar
    const names = similar.map(({ key }) => key.slice(key.lastIndexOf('|') + 1))
    const title = `${first.title} – and so on for ${names.length} fields: ${names.join(', ')}`
    return [
      {
        ...first,
        title,
        failed: similar.flatMap(({ failed }) => failed),
        blocked: similar.flatMap(({ blocked }) => blocked),
      },
    ]
  })
}

function toCause({ title, failed, blocked, example }: Group): Cause {
  const all = [...failed, ...blocked]
  const first = failed.find(({ check }) => check.origin === 'spec') ?? all[0]
  return {
    title,
    origin: all.some(({ check }) => check.origin === 'spec') ? 'spec' : 'decision',
    source: first?.check.source ?? '',
    failed,
    blocked,
    example,
  }
}

function byUrgency(one: Cause, other: Cause): number {
  if (one.origin !== other.origin) return one.origin === 'spec' ? -1 : 1
  return other.blocked.length - one.blocked.length || other.failed.length - one.failed.length
}

function relabel(outcomes: readonly Outcome[], causes: readonly Cause[]): readonly Outcome[] {
  const reasons = new Map<Outcome, string>()
  for (const { title, blocked } of causes)
    for (const outcome of blocked) reasons.set(outcome, `waits for: ${title}`)
  return outcomes.map((outcome) =>
    outcome.status === 'failed' && reasons.has(outcome)
      ? { ...outcome, status: 'blocked', reason: reasons.get(outcome) ?? '' }
      : outcome,
  )
}
