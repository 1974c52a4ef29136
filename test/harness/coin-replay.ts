import { expect } from 'vitest'
import type { Json } from './client.ts'
import { CoinModel } from './coin-model.ts'

const instantMs = (text: string | undefined): number => (text ? Date.parse(text) : Number.POSITIVE_INFINITY)

/** Replays a user's history in the plain model: it must be a serial order that explains every line. */
export function replay(history: readonly Json[], clawsBack: boolean): CoinModel {
  const model = new CoinModel()
  for (const [i, line] of history.entries()) {
    expect(line.entry).toBe(i + 1)
    const atMs = Date.parse(line.createdOn)
    // Whoever wrote this line had first activated and written off all that was due.
    if (!['ACTIVATED', 'EXPIRED'].includes(line.kind)) expect(dueIn(model, atMs)).toEqual([])
    replayLine(model, line, clawsBack)
    expect(line.balance).toBe(model.active)
  }
  return model
}

const dueIn = ({ lots }: CoinModel, atMs: number) =>
  lots.filter(
    ({ remaining, expiresMs, pending, activatesMs = Number.POSITIVE_INFINITY }) =>
      (remaining > 0 && expiresMs <= atMs) || (pending > 0 && activatesMs <= atMs),
  )

function replayLine(model: CoinModel, line: Json, clawsBack: boolean): void {
  const { kind, allocationId, amount } = line
  const lot = model.lots.find(({ id }) => id === allocationId)!
  switch (kind) {
    case 'ALLOCATED':
      return model.award(allocationId, amount, instantMs(line.expiresOn))
    case 'PENDING':
      model.awardPending(allocationId, amount, {
        ...(line.activatesOn && { activatesMs: Date.parse(line.activatesOn) }),
      })
      // It may be over before anything writes that it began.
      return void Object.assign(model.lots.at(-1)!, { expiresMs: instantMs(line.expiresOn) })
    case 'ACTIVATED':
      expect(lot).toMatchObject({ pending: amount, remaining: 0 })
      if (lot.activatesMs !== undefined)
        expect(lot.activatesMs).toBeLessThanOrEqual(Date.parse(line.createdOn))
      return void Object.assign(lot, { pending: 0, remaining: amount, expiresMs: instantMs(line.expiresOn) })
    case 'REDEEMED':
      return expect(line.allocations).toEqual(model.redeem(amount))
    case 'VOIDED':
    case 'PENDING_VOIDED':
      return expect(model.void(allocationId, clawsBack)).toEqual({
        amount,
        shortfall: line.shortfall,
        pending: kind === 'PENDING_VOIDED',
      })
    default:
      expect(lot.expiresMs).toBeLessThanOrEqual(Date.parse(line.createdOn))
      expect(amount).toBe(lot.remaining)
      model.expired += lot.remaining
      lot.remaining = 0
  }
}
