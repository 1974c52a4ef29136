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
