import { Select, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { api, responseOf, type Schemas } from '../api.ts'
import { FormDialog, needed } from '../parts/form-dialog.tsx'
import { rupees } from '../parts/money.tsx'
import { notifyWaiting } from '../parts/notify-waiting.ts'
import { queryClient, useSession } from '../session.ts'
import { bodyOf, FUND_RULES, FundFields, type Funding } from './fund-form.tsx'

type Account = Schemas['LedgerAccount']
type Outcome = 'SETTLED' | 'WRITTEN_OFF'
type Values = Funding & { readonly outcome: Outcome | null }

/** Accounts that end outside, each with what is settled there. */
const SETTLED: Readonly<Record<string, string>> = {
  card_exceptions: 'The network settled it',
  payout_exceptions: 'The money came back to our bank',
  refund_exceptions: 'The money came back to our bank',
  merchant_advances: 'The merchant repaid it to our bank',
}

/** Enters that what is open on an account was settled outside, or is written off. */
export function SettleAccount({ account: { accountId, balance, kind } }: { readonly account: Account }) {
  const { can } = useSession()
  const settled = SETTLED[kind]
  const isOpen = Number(balance) > 0 || (kind === 'card_exceptions' && Number(balance) < 0)
  if (settled === undefined || !isOpen || !can('finance')) return undefined
  const open = rupees(balance.replace('-', ''))
  return (
    <FormDialog
      label="Settle"
      send="Enter it"
      variant="default"
      initial={{ amount: '', reference: '', reason: '', outcome: null } as Values}
      rules={{ ...FUND_RULES, outcome: needed }}
      fields={(form) => (
        <>
          <Text size="sm">
            {open} {Number(balance) < 0 ? 'are owed to the network.' : 'are owed to us.'}
          </Text>
          <Select
            label="What ended it"
            data={[
              { value: 'SETTLED', label: settled },
              { value: 'WRITTEN_OFF', label: 'It is written off' },
            ]}
            required
            {...form.getInputProps('outcome')}
          />
          <FundFields
            form={form}
            amountOf={`At most ${open}`}
            referenceOf="Of the transfer or settlement, or of the decision to write it off: each is entered once"
          />
        </>
      )}
      submit={({ outcome, ...values }) => settle(accountId, { ...bodyOf(values), outcome: outcome! })}
    />
  )
}

async function settle(
  accountId: string,
  body: ReturnType<typeof bodyOf> & { readonly outcome: Outcome },
): Promise<void> {
  const params = { path: { accountId } }
  const entered = await responseOf(api.POST('/ledger/accounts/{accountId}/settle', { params, body }))
  if ('approvalId' in entered) notifyWaiting(entered.amount)
  else
    notifications.show({
      color: entered.isRepeat ? 'yellow' : 'teal',
      message: entered.isRepeat
        ? 'It was entered before: nothing was posted.'
        : `Entered. ${rupees(entered.open)} are open now.`,
    })
  for (const key of ['ledger-accounts', 'ledger', 'closing', 'approvals'])
    await queryClient.invalidateQueries({ queryKey: [key] })
}
