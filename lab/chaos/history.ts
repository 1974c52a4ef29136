/** One operation on one object, as its caller saw it: sent at `startMs`, answered at `endMs`, by one clock. */
export interface Operation<Op> {
  readonly startMs: number
  /** `undefined` when it was never answered: it may have happened at any time since, or not at all. */
  readonly endMs: number | undefined
  readonly op: Op
}

/** What an object is: where it begins, and what an operation that was answered so makes of it. */
export interface Model<State, Op> {
  readonly initial: State
  /** The state after the operation; `undefined` when in this state it could not have been answered so. */
  step(state: State, op: Op): State | undefined
  /** The same text for the same states. */
  key(state: State): string
}

interface Configuration<State> {
  readonly state: State
  /** Operations under way that have taken effect already, by their number. */
  readonly done: ReadonlySet<number>
}

/** A history that no serial order explains, up to and including the operation at which that shows. */
export interface Anomaly<Op> {
  readonly at: Operation<Op>
  readonly before: readonly Operation<Op>[]
}

/**
 * Whether the operations of one object took effect in some serial order that agrees with every answer and in which none
 * took effect before it was sent or after it was answered (Herlihy and Wing, "Linearizability", 1990). Goes through the
 * instants in order and keeps every state that the object may be in (Lowe, "Testing for linearizability", 2017): at an
 * answer, only those remain in which that operation has taken effect by then. Answers the first that leaves none.
 */
export function findAnomaly<State, Op>(
  model: Model<State, Op>,
  history: readonly Operation<Op>[],
): Anomaly<Op> | undefined {
  const instants = history.flatMap((operation, n) => [
    { atMs: operation.startMs, n, isEnd: false },
    ...(operation.endMs === undefined ? [] : [{ atMs: operation.endMs, n, isEnd: true }]),
  ])
  // Of one instant, what begins comes first: such operations are taken for concurrent.
  instants.sort((a, b) => a.atMs - b.atMs || Number(a.isEnd) - Number(b.isEnd))
  const underWay = new Set<number>()
  let possible: Configuration<State>[] = [{ state: model.initial, done: new Set() }]
  for (const { n, isEnd } of instants) {
    if (!isEnd) {
      underWay.add(n)
      continue
    }
    possible = reach(model, history, underWay, possible).filter(({ done }) => done.has(n))
    underWay.delete(n)
    possible = distinct(
      model,
      possible.map(({ state, done }) => ({ state, done: new Set([...done].filter((other) => other !== n)) })),
    )
    if (possible.length === 0) {
      const at = history[n]!
      return { at, before: history.filter(({ startMs }) => startMs <= at.endMs!) }
    }
  }
  return undefined
}

/** Every configuration that operations under way can lead to, in any order. */
function reach<State, Op>(
  model: Model<State, Op>,
  history: readonly Operation<Op>[],
  underWay: ReadonlySet<number>,
  from: readonly Configuration<State>[],
): Configuration<State>[] {
  const known = new Map(from.map((configuration) => [keyOf(model, configuration), configuration]))
  const open = [...known.values()]
  for (let next = open.pop(); next; next = open.pop())
    for (const n of underWay) {
      if (next.done.has(n)) continue
      const state = model.step(next.state, history[n]!.op)
      if (state === undefined) continue
      const configuration = { state, done: new Set([...next.done, n]) }
      const key = keyOf(model, configuration)
      if (known.has(key)) continue
      known.set(key, configuration)
      open.push(configuration)
    }
  return [...known.values()]
}

const keyOf = <State, Op>(model: Model<State, Op>, { state, done }: Configuration<State>): string =>
  `${model.key(state)} ${[...done].sort((a, b) => a - b).join(',')}`

const distinct = <State, Op>(
  model: Model<State, Op>,
  configurations: readonly Configuration<State>[],
): Configuration<State>[] => [
  ...new Map(configurations.map((configuration) => [keyOf(model, configuration), configuration])).values(),
]
