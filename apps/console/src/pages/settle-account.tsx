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
type Open = NonNullable<Account['open']>
type Against = NonNullable<Open['against']>[number]
type Values = Funding & { readonly outcome: Outcome | null; readonly against: Against }

/** Who settles it with us: in words, and what ended it where it was paid. */
const PARTIES: Readonly<Record<Open['by'], { readonly name: string; readonly settled: string }>> = {
  bank: { name: 'the bank', settled: 'The money came to our bank, or left it' },
  network: { name: 'the network', settled: 'The network settled it' },
  merchant: { name: 'the merchant', settled: 'The merchant paid it to our bank' },
  tax_office: { name: 'the tax office', settled: 'The tax office refunded it' },
}
const ACCOUNTS: Readonly<Record<Against, string>> = {
  bank: 'The escrow account of merchants',
  ppi_bank: 'The escrow account of cards',
  own_funds: 'Our own account',
}

/** Enters that what is open on an account was settled outside, or is written off. */
export function SettleAccount({ account: { accountId, open } }: { readonly account: Account }) {
  const { can } = useSession()
  if (open === undefined || !can('finance')) return undefined
  const { against: accounts, by, owedTo } = open
  const amount = rupees(open.amount)
  const choicesOf = (outcome: Outcome | null) => (outcome === 'SETTLED' ? accounts : undefined) ?? []
  return (
    <FormDialog
      label="Settle"
      send="Enter it"
      variant="default"
      initial={{ amount: '', reference: '', reason: '', outcome: null, against: 'bank' } as Values}
      rules={{ ...FUND_RULES, outcome: needed }}
      fields={(form) => (
        <>
          <Text size="sm">
            {amount} are owed to {owedTo === 'us' ? 'us' : PARTIES[owedTo].name}.
          </Text>
          <Select
            label="What ended it"
            data={[
              { value: 'SETTLED', label: PARTIES[by].settled },
              { value: 'WRITTEN_OFF', label: 'It is written off' },
            ]}
            required
            {...form.getInputProps('outcome')}
          />
          {choicesOf(form.values.outcome).length > 0 && (
            <Select
              label="By which account"
              data={choicesOf(form.values.outcome).map((value) => ({ value, label: ACCOUNTS[value] }))}
              required
              {...form.getInputProps('against')}
            />
          )}
          <FundFields
            form={form}
            amountOf={`At most ${amount}`}
            referenceOf="Of the transfer or settlement, or of the decision to write it off: each is entered once"
          />
        </>
      )}
      submit={({ outcome, against, ...values }) =>
        settle(accountId, {
          ...bodyOf(values),
          outcome: outcome!,
          ...(choicesOf(outcome).length > 0 && { against }),
        })
      }
    />
  )
}

async function settle(
  accountId: string,
  body: ReturnType<typeof bodyOf> & { readonly outcome: Outcome; readonly against?: Against },
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
