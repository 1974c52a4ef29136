import { type Api, payloadOf, type Schemas } from './api.ts'
import {
  type Checkpoint,
  type FeedBalance,
  type PublishedKey,
  readCheckpoint,
  splitNotes,
} from './checkpoint.ts'
import { readJson } from './errors.ts'
import { fromBase64, fromHex, GrowingTree, jcs, leafHash, sha256, toBase64, toHex, utf8 } from './merkle.ts'
import type { CallOptions } from './transport.ts'

type Event = Schemas['Event']
type Leaf = Schemas['EventLeaf']

/** A head that was verified: keep it, and hand it to the next verification. */
export interface RememberedHead extends Checkpoint {
  /** The head as it was signed: proof towards others of what the service said. */
  readonly checkpoint: string
  /** Number of the last event that was no longer kept. */
  readonly keptAfter: number
  /** The roots of the complete subtrees, from which a tree goes on to grow. */
  readonly peaks: readonly string[]
}

export interface VerifyOptions extends CallOptions {
  /** What the last verification returned. Without it nothing shows whether the past was changed before this one. */
  readonly remembered?: RememberedHead | undefined
  /** Heads that the operator published or other readers of the feed have: notes, one behind the other. */
  readonly published?: string | undefined
  /** Only events behind the remembered head: changes of older ones, which that run verified, go unnoticed. */
  readonly newOnly?: boolean | undefined
}

export interface FeedVerification {
  /** What shows that the feed or the balances were changed, in words; none when everything fits. */
  readonly problems: readonly string[]
  /** What is different from the remembered head, in words. */
  readonly changes: readonly string[]
  /** Events that were compared with their leaves. */
  readonly events: number
  /** How many of them have lost their personal data by erasure. */
  readonly erased: number
  readonly head: RememberedHead
}

const PAGE = 500
/** So many of a kind are worth reading. */
const PROBLEMS_MAX = 20

/** What a verification has found so far. */
class Findings {
  readonly problems: string[] = []
  readonly changes: string[] = []
  events = 0
  erased = 0

  problem(text: string): void {
    if (this.problems.length < PROBLEMS_MAX) this.problems.push(text)
  }
}

/** The leaf of an event (RFC 6962), as the guide describes it; `personal` of the leaf hides what erasure may empty. */
async function leafOf(event: Event, personal: Leaf['personal']): Promise<string> {
  const data = event.data as Readonly<Record<string, unknown>>
  const isHidden = (name: string) => personal?.fields.includes(name) ?? false
  const kept = Object.fromEntries(Object.entries(data).filter(([name]) => !isHidden(name)))
  const content = {
    sequence: event.sequence,
    id: event.id,
    type: event.type,
    createdMs: Date.parse(event.createdOn),
    data: toHex(await sha256(utf8(jcs(kept)))),
    ...(personal && { personal: personal.digest }),
  }
  return toBase64(await leafHash(utf8(jcs(content))))
}

/** Why the personal data of an event is not what its leaf hides; an erased one has none. */
async function personalProblem({ data }: Event, { digest, fields, salt }: NonNullable<Leaf['personal']>) {
  const found = data as Readonly<Record<string, unknown>>
  if (salt === undefined)
    return fields.every((name) => found[name] === '') ? undefined : 'has personal data that was erased'
  const shown = Object.fromEntries(fields.map((name) => [name, found[name]]))
  return toHex(await sha256(fromHex(salt), utf8(jcs(shown)))) === digest
    ? undefined
    : 'has other personal data than its leaf'
}

async function compare(event: Event | undefined, leaf: Leaf, findings: Findings): Promise<void> {
  if (event?.sequence !== leaf.sequence) {
    findings.problem(`event ${leaf.sequence} is missing`)
    return
  }
  findings.events++
  const { personal } = leaf
  if (personal && personal.salt === undefined) findings.erased++
  if ((await leafOf(event, personal)) !== leaf.hash)
    findings.problem(`event ${leaf.sequence} (${event.id}) was changed`)
  else if (personal) {
    const problem = await personalProblem(event, personal)
    if (problem !== undefined) findings.problem(`event ${leaf.sequence} (${event.id}) ${problem}`)
  }
}

/** Balances that the entries do not explain, and those that moved since the remembered head. */
function compareBalances(
  { balances }: Checkpoint,
  remembered: RememberedHead | undefined,
  findings: Findings,
): void {
  for (const { account, balance, booked, unit } of balances)
    if (balance !== booked)
      findings.problem(`the balance of ${account} is ${balance} ${unit}, its entries add up to ${booked}`)
  for (const before of remembered?.balances ?? []) {
    const now = balances.find(({ account, unit }) => account === before.account && unit === before.unit)
    compareBalance(before, now, findings)
  }
}

function compareBalance(before: FeedBalance, now: FeedBalance | undefined, findings: Findings): void {
  const { account, unit } = before
  if (!now || now.entries < before.entries)
    findings.problem(`${account} has fewer entries than before: ${now?.entries ?? 0} of ${before.entries}`)
  else if (now.balance !== before.balance && now.entries === before.entries)
    findings.problem(
      `the balance of ${account} changed from ${before.balance} to ${now.balance} ${unit} without an entry`,
    )
  else if (now.entries > before.entries)
    findings.changes.push(
      `${account}: ${before.balance} → ${now.balance} ${unit}, by ${now.entries - before.entries} entries`,
    )
}

/** A root that the tree must have at a size, and whose word it is. */
interface KnownRoot {
  readonly size: number
  readonly root: string
  readonly of: string
}

/** Reads a feed with its tree, event by event. */
export class FeedVerifier {
  readonly #api: Api
  readonly #options: VerifyOptions
  readonly #findings = new Findings()

  constructor(api: Api, options: VerifyOptions) {
    this.#api = api
    this.#options = options
  }

  async verify(): Promise<FeedVerification> {
    const { newOnly, remembered } = this.#options
    const findings = this.#findings
    const { keys } = await readJson<{ keys: PublishedKey[] }>(
      await this.#api.fetch('/.well-known/jwks.json', {}, this.#options),
      (body) => Array.isArray(body.keys),
    )
    const { checkpoint } = payloadOf(
      await this.#api.http.GET('/api/v0/events/head', this.#api.call(this.#options)),
    )
    const head = await readCheckpoint(checkpoint, keys)
    const roots = await this.#knownRoots(head, keys)
    const start = newOnly && remembered && remembered.size <= head.size ? remembered : undefined
    const tree = new GrowingTree(start?.size, start?.peaks)
    const keptAfter = await this.#read(head, tree, roots)
    if (remembered) this.#changes(remembered, head, keptAfter)
    compareBalances(head, remembered, findings)
    const { problems, changes, events, erased } = findings
    return {
      problems,
      changes,
      events,
      erased,
      head: { ...head, checkpoint, keptAfter, peaks: tree.peaks },
    }
  }

  #changes(remembered: RememberedHead, head: Checkpoint, keptAfter: number): void {
    const { changes } = this.#findings
    if (head.size > remembered.size) changes.push(`${head.size - remembered.size} new events`)
    if (keptAfter > remembered.keptAfter) changes.push(`events up to ${keptAfter} are no longer kept`)
    if (keptAfter < remembered.keptAfter)
      this.#findings.problem(`events up to ${remembered.keptAfter} were no longer kept, and some are back`)
  }

  /** What the tree must have been, by the remembered head, the published ones and the newest. */
  async #knownRoots(head: Checkpoint, keys: readonly PublishedKey[]): Promise<KnownRoot[]> {
    const { published = '', remembered } = this.#options
    const known: (KnownRoot & { readonly origin: string })[] = remembered
      ? [{ ...remembered, of: 'the remembered head' }]
      : []
    for (const note of splitNotes(published)) {
      if (!note.startsWith(`${head.origin}\n`)) continue
      known.push({ ...(await readCheckpoint(note, keys)), of: 'a published head' })
    }
    for (const { of, origin, size } of known)
      if (origin !== head.origin)
        this.#findings.problem(`${of} is of ${origin}, and this feed is ${head.origin}`)
      else if (size > head.size)
        this.#findings.problem(`${of} has ${size} events, and the feed ends at ${head.size}`)
    return [...known, { ...head, of: 'the newest head' }]
  }

  /** Reads all leaves, and the events that are kept; returns the number of the last event that is not. */
  async #read(head: Checkpoint, tree: GrowingTree, roots: readonly KnownRoot[]): Promise<number> {
    await this.#compareRoots(tree, roots)
    let keptAfter: number | undefined
    do {
      const page = await this.#leaves(tree.size)
      keptAfter ??= page.keptAfter
      const leaves = page.data.slice(0, head.size - tree.size)
      const events = await this.#events(Math.max(tree.size, keptAfter), leaves)
      for (const leaf of leaves) {
        if (leaf.sequence > keptAfter) await compare(events.get(leaf.sequence), leaf, this.#findings)
        await tree.append(fromBase64(leaf.hash))
        await this.#compareRoots(tree, roots)
      }
      if (leaves.length === 0) break
    } while (tree.size < head.size)
    if (tree.size < head.size)
      this.#findings.problem(`the tree has ${tree.size} leaves, and its head says ${head.size}`)
    return keptAfter
  }

  async #compareRoots(tree: GrowingTree, roots: readonly KnownRoot[]): Promise<void> {
    const known = roots.filter(({ size }) => size === tree.size)
    if (known.length === 0) return
    const root = await tree.root()
    for (const { of, root: expected, size } of known)
      if (root !== expected)
        this.#findings.problem(`the first ${size} events are others than those of ${of}: a fork`)
  }

  async #leaves(after: number) {
    const query = { after, limit: PAGE }
    const call = this.#api.call(this.#options)
    return payloadOf(await this.#api.http.GET('/api/v0/events/leaves', { params: { query }, ...call }))
  }

  async #events(after: number, leaves: readonly Leaf[]): Promise<Map<number, Event>> {
    const last = leaves.at(-1)?.sequence ?? 0
    if (last <= after) return new Map()
    const query = { after, limit: PAGE }
    const call = this.#api.call(this.#options)
    const { data } = payloadOf(await this.#api.http.GET('/api/v0/events', { params: { query }, ...call }))
    return new Map(data.map((event) => [event.sequence, event]))
  }
}
