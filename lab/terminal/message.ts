/** Operations of the card rail, as their paths end. */
type Kind = 'authorizations' | 'captures' | 'voids' | 'refunds' | 'advices' | 'balance-inquiries'

/** What a card network sends about one card. Amounts in paise. */
export interface Message {
  readonly kind: Kind
  /** STAN and transmission time: with its kind they identify the message. */
  readonly reference: Reference
  /** The earlier message that it is about, which may arrive later. */
  readonly original?: Reference
  readonly advice?: 'stand_in' | 'forced_post'
  /** Absent in balance inquiries, and in voids of all that is held. */
  readonly amountPaise?: number
  readonly isFinal?: boolean
}

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
  const { kind, reference, original, advice, amountPaise, isFinal } = message
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
    ...((kind === 'authorizations' || kind === 'balance-inquiries') && { channel: 'pos' }),
    merchantName,
  })
}
