import { paiseToWire } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import type { Tx } from '@svc/platform/db/database'
import { statement } from '@svc/platform/db/statement'
import { bytes, instant, nullable, paise, type RowOf, table, text, textOf } from '@svc/platform/db/table'
import type { OutboxEvent } from '@svc/platform/outbox'
import { Type } from 'typebox'
import { accountId } from '../../ledger/accounts.ts'
import type { Transfer } from '../../ledger/transfers.ts'

export const LOAD_KINDS = ['load', 'unload'] as const
export type LoadKind = (typeof LOAD_KINDS)[number]

/** Loads of cards after their first one, and unloads (decision C26). */
export const cardLoads = table('card_loads', 'l', ['partnerId', 'loadId'], {
  partnerId: text,
  loadId: text,
  svcCardId: text,
  cardAccountId: text,
  kind: textOf<LoadKind>(),
  amountPaise: paise,
  /** After it, of the card and of the card account. */
  balancePaise: paise,
  accountBalancePaise: paise,
  /** The partner's own: names one load or unload. */
  referenceNumber: text,
  reason: nullable(text),
  requestHash: bytes,
  createdAt: instant,
})
export type CardLoad = RowOf<typeof cardLoads>

const FIND_OF_REFERENCE = statement<Pick<CardLoad, 'loadId'>>(
  'card_load_of_reference',
  `select load_id as "loadId" from card_loads
   where partner_id = $1 and reference_number = $2 and svc_card_id = $3 and amount_paise = $4 and kind = 'load'`,
)

/** The load that was made of this request; `undefined` for none. */
export async function findLoadOf(
  tx: Tx,
  load: Pick<CardLoad, 'partnerId' | 'referenceNumber' | 'svcCardId' | 'amountPaise'>,
): Promise<string | undefined> {
  const { partnerId, referenceNumber, svcCardId, amountPaise } = load
  const [found] = await tx.query(FIND_OF_REFERENCE, [partnerId, referenceNumber, svcCardId, amountPaise])
  return found?.loadId
}

/** Its id is that of the leg of the ledger, under another prefix. */
export const loadIdOf = (transferId: string): string => `cld_${transferId.slice('trf_'.length)}`
const transferIdOf = ({ loadId }: Pick<CardLoad, 'loadId'>): string => `trf_${loadId.slice('cld_'.length)}`

const LEGS = { load: 'card_reload', unload: 'card_unload' } as const
const EVENTS = { load: 'card.loaded', unload: 'card.unloaded' } as const

/** What moves: from the card account to the card, or back. */
export function loadTransfer(load: CardLoad): Transfer {
  const funding = accountId('card_funding', load.cardAccountId)
  const card = accountId('card', load.svcCardId)
  const [debitAccountId, creditAccountId] =
    load.kind === 'load' ? ([funding, card] as const) : ([card, funding] as const)
  return {
    transferId: transferIdOf(load),
    tenantId: load.partnerId,
    kind: LEGS[load.kind],
    debitAccountId,
    creditAccountId,
    amountPaise: load.amountPaise,
    objectId: load.svcCardId,
    createdAt: load.createdAt,
  }
}

export const CardLoadRecord = Type.Object(
  {
    loadId: Type.String(),
    svcCardId: Type.String(),
    cardAccountId: Type.String({ description: 'Where the money came from, or went back to' }),
    kind: Type.Enum([...LOAD_KINDS]),
    amount: Type.Number({ description: 'Rupees' }),
    balance: Type.Number({ description: 'Rupees on the card after it' }),
    cardAccountBalance: Type.Number({ description: 'Rupees on the card account after it' }),
    referenceNumber: Type.String({ description: 'The partner’s own reference' }),
    reason: Type.Optional(Type.String()),
    transactionId: Type.String({
      description: 'The entry of the ledger that moved the money, as in transactions and statements',
    }),
    createdOn: Type.String({ description: 'RFC 3339' }),
  },
  { title: 'CardLoad', additionalProperties: false },
)

export const loadToWire = (load: CardLoad, timeZone: string) => ({
  loadId: load.loadId,
  svcCardId: load.svcCardId,
  cardAccountId: load.cardAccountId,
  kind: load.kind,
  amount: paiseToWire(load.amountPaise),
  balance: paiseToWire(load.balancePaise),
  cardAccountBalance: paiseToWire(load.accountBalancePaise),
  referenceNumber: load.referenceNumber,
  reason: load.reason ?? undefined,
  transactionId: transferIdOf(load),
  createdOn: rfc3339(load.createdAt, timeZone),
})

export const loadEvent = (load: CardLoad, eventId: string, timeZone: string): OutboxEvent => ({
  eventId,
  tenantId: load.partnerId,
  type: EVENTS[load.kind],
  objectId: load.svcCardId,
  payload: loadToWire(load, timeZone),
  createdAt: load.createdAt,
})

/** By what it changes the balance of the card. */
export const signedPaise = (kind: LoadKind, amountPaise: bigint): bigint =>
  kind === 'load' ? amountPaise : -amountPaise
