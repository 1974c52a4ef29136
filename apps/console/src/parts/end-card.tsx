import { Alert, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useNavigate } from '@tanstack/react-router'
import type { FormKey } from '../form-key.ts'
import { pathOf } from '../objects.ts'
import { ConfirmAction } from './confirm-action.tsx'
import { FormDialog } from './form-dialog.tsx'

interface EndCardProps {
  readonly card: {
    readonly cardStatus: { readonly name: string }
    readonly expiryMonth: string
    readonly expiryYear: string
  }
  /** In rupees. */
  readonly balance: number
  /** Makes the new card. */
  readonly replace: (
    reason: string,
    key: FormKey,
  ) => Promise<{ readonly svcCardId: string; readonly maskedNumber: string }>
  readonly giveBack: (consentReference: string, key: FormKey) => Promise<unknown>
}

/** Whether a card is blocked or its last month is over. */
const hasEnded = ({ cardStatus, expiryMonth, expiryYear }: EndCardProps['card']): boolean =>
  cardStatus.name === 'BL' || new Date(Number(expiryYear), Number(expiryMonth)) <= new Date()

/** What is left on a card goes to a new card, or back to its card account at the holder's consent. */
export function EndCard({ balance, card, giveBack, replace }: EndCardProps) {
  const navigate = useNavigate()
  return (
    <>
      <ConfirmAction
        label="Replace"
        confirm="Replace card"
        danger
        withReason
        run={async (reason, key) => {
          const made = await replace(reason, key)
          notifications.show({ color: 'teal', message: `Card ${made.maskedNumber} takes its place.` })
          await navigate({ to: pathOf('card', made.svcCardId) })
        }}
      >
        <Alert color="red">
          The holder gets a card with a new number and the balance; this one is blocked for good. What shops
          hold follows once they take or release it.
        </Alert>
      </ConfirmAction>
      {balance > 0 && hasEnded(card) && <ReturnBalance giveBack={giveBack} />}
    </>
  )
}

const ReturnBalance = ({ giveBack }: Pick<EndCardProps, 'giveBack'>) => (
  <FormDialog
    label="Return balance"
    send="Return balance"
    variant="default"
    initial={{ consentReference: '' }}
    rules={{
      consentReference: (value: string) =>
        /^[!-~]{1,64}$/.test(value.trim()) ? null : 'One word of 64 letters, digits and signs at most',
    }}
    fields={(form) => (
      <TextInput
        label="Record of the holder’s consent"
        description="Your reference of it. The money goes back to the card account after a wait in which it can be put back."
        required
        maxLength={64}
        data-autofocus
        {...form.getInputProps('consentReference')}
      />
    )}
    submit={({ consentReference }, key) => giveBack(consentReference.trim(), key)}
  />
)
