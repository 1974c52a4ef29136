import type { Schemas } from '../api.ts'

type Reason = Schemas['CardException']['reason']

interface Meaning {
  readonly title: string
  /** What happened, and what the service has done about it. */
  readonly meaning: string
  /** For the operator. */
  readonly toDo: string
}

const RESEND =
  'Ask the network to send the message again in the agreed form. The new message is recorded by itself; this one moves no money.'
const SETTLE =
  'Settle the amount with the network: it is in the account of card exceptions of the partner until then. The holder of the card owes nothing.'

const unreadable = (title: string, meaning: string): Meaning => ({ title, meaning, toDo: RESEND })

/** What each exception of the card rail means, and what to do about it (decision R1). */
export const REASONS: Readonly<Record<Reason, Meaning>> = {
  not_json: unreadable('Not JSON', 'The signed body is not a JSON object.'),
  not_decrypted: {
    title: 'Not decrypted',
    meaning: 'The encrypted message could not be decrypted with a current key of the service.',
    toDo: 'Check that the network encrypts with the published key, then ask it to send the message again.',
  },
  card_unreadable: unreadable('Card not readable', 'The message names no card by token or number.'),
  card_number_not_encrypted: {
    title: 'Card number not encrypted',
    meaning: 'A card number came in a message that is not encrypted. It is masked here and not used.',
    toDo: 'Report it to the network: card numbers are accepted in encrypted messages only. Then have the message sent again, encrypted.',
  },
  identity_unreadable: unreadable(
    'Identity not readable',
    'Acquirer, STAN or transmission time are missing or malformed, so a repeat could not be recognized.',
  ),
  amount_unreadable: unreadable('Amount not readable', 'The amount is missing or is not a number of rupees.'),
  channel_unreadable: unreadable('Channel not readable', 'The message names no known channel.'),
  advice_unreadable: unreadable('Advice not readable', 'The kind of the advice is missing or not known.'),
  status_unreadable: {
    title: 'Did not happen, or not readable',
    meaning: 'The status or response code of the message says that it did not happen, or is not known.',
    toDo: 'Ask the network what became of it. If it did happen, have it sent again without that status.',
  },
  currency_not_inr: {
    title: 'Not in rupees',
    meaning: 'The message states another currency. Nothing was booked.',
    toDo: 'Have the network send the amount in rupees, in which it settles.',
  },
  reference_unreadable: unreadable(
    'Reference not readable',
    'The message names an earlier one in a form that cannot be read.',
  ),
  partial_unreadable: unreadable(
    'Partial approval not readable',
    'Whether a part of the amount may be approved is not stated as true or false.',
  ),
  final_unreadable: unreadable(
    'Last capture or not',
    'Whether the capture is the last of its authorisation cannot be read.',
  ),
  unknown_card: {
    title: 'Unknown card',
    meaning: 'The network reports what happened to a card that the service does not know.',
    toDo: 'Check the card’s token with the network. If the service never issued the card, the network must correct its routing and its settlement.',
  },
  contradicts_earlier_message: {
    title: 'Contradicts an earlier message',
    meaning: 'The same identity came before with other content. The first message counts.',
    toDo: 'Compare both with the network. If the second one is right, ask for it as a new message with its own STAN.',
  },
  unmatched_capture: {
    title: 'Capture without authorisation',
    meaning: 'No authorisation fits the capture. It was posted by force, at most from the free balance.',
    toDo: 'Ask the network for the authorisation. Without one, dispute the capture; what the card did not have is in card exceptions.',
  },
  capture_after_void: {
    title: 'Capture after a void',
    meaning:
      'The authorisation had been voided. The capture was posted by force, at most from the free balance.',
    toDo: 'Ask the network which of the two holds. If the void holds, dispute the capture.',
  },
  over_authorization: {
    title: 'More than the authorisation',
    meaning: 'The capture exceeds its authorisation and what may be added to it. The excess is an exception.',
    toDo: SETTLE,
  },
  over_balance: {
    title: 'More than the balance',
    meaning:
      'The network took, or approved in our place, more than the card has. What it took beyond the balance is an exception.',
    toDo: SETTLE,
  },
  over_capture: {
    title: 'More than was captured',
    meaning: 'The refund exceeds what is left of its capture. The excess was not given to the card.',
    toDo: 'Ask the network which purchase the rest belongs to. If it is the card holder’s, give it to the card; otherwise settle it with the network.',
  },
  unmatched_refund: {
    title: 'Refund without capture',
    meaning: 'The refund fits no capture. It was not given to the card.',
    toDo: 'Ask the network which purchase it belongs to. If it is the card holder’s, give it to the card; otherwise settle it with the network.',
  },
  void_after_capture: {
    title: 'Void after the capture',
    meaning: 'The network voids what it has captured already. A void gives back nothing.',
    toDo: 'Ask the network for a refund of the capture if the purchase was not made.',
  },
}
