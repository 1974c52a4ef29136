/** Operations of the card rail, as their paths end. */
type RailKind = 'authorizations' | 'captures' | 'voids' | 'refunds' | 'advices' | 'balance-inquiries'
/** What the partner does in between, as the paths of its API end. */
type PartnerKind = 'loads' | 'unloads'

/** What a card network sends about one card, or its partner. Amounts in paise. */
export interface Message {
  readonly kind: RailKind | PartnerKind
  /** STAN and transmission time: with its kind they identify the message; the partner’s reference is made of them. */
  readonly reference: Reference
  /** The earlier message that it is about, which may arrive later. */
  readonly original?: Reference
  readonly advice?: 'stand_in' | 'forced_post'
  /** Absent in balance inquiries, and in voids of all that is held. */
  readonly amountPaise?: number
  readonly isFinal?: boolean
  /** Of an authorisation: whether a part of it may be approved. */
  readonly isPartialAllowed?: boolean
  /** Of a void: what its authorisation finally amounts to. */
  readonly replacementPaise?: number
  readonly mcc?: string
  readonly merchantCountry?: string
}

export const isOfPartner = ({ kind }: Message): boolean => kind === 'loads' || kind === 'unloads'

/** The body of a load or an unload. */
export const moveBodyOf = ({ kind, reference, amountPaise = 0 }: Message): string =>
  JSON.stringify({
    amount: amountPaise / 100,
    referenceNumber: `${kind}-${keyOf(reference).replaceAll(' ', '-')}`,
  })

export interface Reference {
  readonly stan: string
  readonly transmissionTime: string
}

const ACQUIRER = '400123'

/** A reference as a key of a map. */
export const keyOf = ({ stan, transmissionTime }: Reference): string => `${stan} ${transmissionTime}`

/** What makes a message unreadable, or says that it did not happen: nothing may come of it. */
export const ODDITIES: readonly object[] = [
  { amount: '1,5' },
  { amount: { value: 5 } },
  { currency: 'USD' },
  { status: 'FAILED' },
  { responseCode: '51' },
  { transmissionTime: '2026-11-27T10:00:00' },
  { channel: 'drone' },
  { final: 'maybe' },
  { originalStan: 'x' },
  { token: ['x'] },
]

/** The same message as another one of another acquirer, with an oddity. */
export const oddBodyOf = (message: Message, token: string, oddity: object): string =>
  JSON.stringify({
    ...(JSON.parse(bodyOf(message, token, 'Corner Shop')) as object),
    acquirerId: '400999',
    ...oddity,
  })

/** The body of a message. `merchantName` is for people: a repeat may have another one. */
export function bodyOf(message: Message, token: string, merchantName: string): string {
  const { kind, reference, original, advice, amountPaise, isFinal, replacementPaise } = message
  const { isPartialAllowed, mcc, merchantCountry } = message
  return JSON.stringify({
    token,
    acquirerId: ACQUIRER,
    ...reference,
    ...(original && {
      originalStan: original.stan,
      originalTransmissionTime: original.transmissionTime,
    }),
    ...(advice && { advice }),
    ...(amountPaise !== undefined && { amount: amountPaise / 100 }),
    ...(isFinal && { final: true }),
    ...(isPartialAllowed && { partialApproval: true }),
    ...(replacementPaise !== undefined && { replacementAmount: replacementPaise / 100 }),
    ...(mcc !== undefined && { mcc }),
    ...(merchantCountry !== undefined && { merchantCountry }),
    ...((kind === 'authorizations' || kind === 'balance-inquiries') && { channel: 'pos' }),
    merchantName,
  })
}
