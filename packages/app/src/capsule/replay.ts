import { type CapsuleExchange, type Difference, differenceOf, whyNotCompared } from './capsule.ts'
import type { Capsule } from './capsule-file.ts'
import type { CapsuleWorld } from './capsule-world.ts'

export interface NotCompared {
  readonly exchange: CapsuleExchange
  readonly why: string
}

/** What became of a replay: it ends with the first response that differs. */
export interface Replayed {
  readonly same: number
  readonly total: number
  readonly notCompared: readonly NotCompared[]
  readonly first?: { readonly exchange: CapsuleExchange; readonly difference: Difference }
}

/** Carries the requests of a capsule out again, in its rounds, until a response differs. */
export async function replay({ manifest, exchanges }: Capsule, world: CapsuleWorld): Promise<Replayed> {
  const total = manifest.rounds.reduce((sum, { requests }) => sum + requests.length, 0)
  const notCompared: NotCompared[] = []
  let same = 0
  for (const { atMs, requests } of manifest.rounds) {
    const recorded = requests.map((number) => exchanges.get(number)!)
    // A stream changes nothing, and would hold up the end.
    const sent = recorded.filter(({ response }) => !response.isStream)
    const responses = await world.carryOut(atMs, { requests: sent.map(({ request }) => request) })
    const replayed = new Map(sent.map(({ request }, i) => [request.number, responses[i]!]))
    for (const exchange of recorded) {
      const why = whyNotCompared(exchange)
      const response = replayed.get(exchange.request.number)
      if (why !== undefined || !response) {
        notCompared.push({ exchange, why: why ?? 'it was not sent' })
        continue
      }
      const difference = differenceOf(exchange.response, response)
      if (difference) return { same, total, notCompared, first: { exchange, difference } }
      same++
    }
  }
  return { same, total, notCompared }
}
