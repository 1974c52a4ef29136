import type { Call } from './callers.ts'
import type { Partner } from './partners.ts'
import { Tally } from './tally.ts'

export type Status = 'UL' | 'L' | 'BL' | 'AP'

export interface Card {
  readonly svcCardId: string
  readonly token: string
  readonly partner: Partner
  readonly balance: Tally
  /** Every status that it can have, by the responses. */
  statuses: Set<Status>
  /** Round in which its statuses last changed: what is sent at the same time has no order. */
  statusSentIn: number
  /** Round in which a change was last sent. */
  changeSentIn: number
  blockedIn: number | undefined
  /** Calls that may still move its money. */
  readonly open: Set<Call>
}

/** A card that has just been issued, with its load in paise. */
export function newCard(
  { svcCardId, token }: Pick<Card, 'svcCardId' | 'token'>,
  partner: Partner,
  loadPaise: bigint,
): Card {
  const balance = new Tally()
  balance.add(loadPaise)
  return {
    svcCardId,
    token,
    partner,
    balance,
    statuses: new Set(['UL']),
    statusSentIn: 0,
    changeSentIn: 0,
    blockedIn: undefined,
    open: new Set(),
  }
}
