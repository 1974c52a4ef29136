import { failFields } from '@svc/contract/fail-fields'
import type { Card, CardFlag } from './card.ts'
import { type CardChangeArgs, cardChange } from './card-changes.ts'

/** The flags to change; those that are absent stay as they are. */
export type WantedFlags = Readonly<Partial<Record<CardFlag, boolean>>>

interface SetCardFlags extends CardChangeArgs {
  readonly flags: WantedFlags
}

/** Opens and closes the channels of a card: its partner sets the user’s flags, the operator the admin’s too. */
export const setCardFlags = cardChange<SetCardFlags>(
  'setCardFlags',
  (card, { flags }): Card => ({ ...card, ...flags }),
  ({ flags }) => {
    if (Object.keys(flags).length === 0)
      failFields({
        in: 'body',
        pointer: '',
        rule: 'at_least_one',
        message: 'At least one of posAllowed, atmAllowed and onlineAllowed is required',
      })
  },
)
