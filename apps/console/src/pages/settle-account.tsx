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
type Against = 'bank' | 'ppi_bank' | 'own_funds'
type Values = Funding & { readonly outcome: Outcome | null; readonly against: Against }

interface Settling {
  /** What ended it, where it was paid. */
  readonly settled: string
  /** To whom it may be owed, where it ends on that side too. */
  readonly owedTo?: string
}

const CAME_BACK = { settled: 'The money came back to our bank' }
/** Accounts that end outside. */
const SETTLED: Readonly<Record<string, Settling>> = {
  card_exceptions: { settled: 'The network settled it', owedTo: 'the network' },
  payout_exceptions: CAME_BACK,
  refund_exceptions: CAME_BACK,
  merchant_advances: { settled: 'The merchant repaid it to our bank' },
  settlement_unmatched: { settled: 'It was paid by or to the bank', owedTo: 'the bank' },
  network_unmatched: { settled: 'It was paid by or to the network', owedTo: 'the network' },
  bank_exceptions: { settled: 'It was paid by or to the bank', owedTo: 'the bank' },
  accrued_fees: { settled: 'The merchant paid it to our bank' },
  tds_receivable: { settled: 'The tax office refunded it' },
}
/** Whose balance is above zero where we owe it. */
const LIABILITIES = new Set(['settlement_unmatched', 'network_unmatched'])
const AGAINST = [
  { value: 'bank', label: 'The escrow account of merchants' },
  { value: 'ppi_bank', label: 'The escrow account of cards' },
  { value: 'own_funds', label: 'Our own account' },
]

/** Enters that what is open on an account was settled outside, or is written off. */
export function SettleAccount({ account: { accountId, balance, kind } }: { readonly account: Account }) {
  const { can } = useSession()
  const settled = SETTLED[kind]
  const owedToUs = Number(balance) * (LIABILITIES.has(kind) ? -1 : 1)
  const isOpen = owedToUs > 0 || (settled?.owedTo !== undefined && owedToUs < 0)
  if (settled === undefined || !isOpen || !can('finance')) return undefined
  const open = rupees(balance.replace('-', ''))
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
            {open} are owed to {owedToUs < 0 ? settled.owedTo : 'us'}.
          </Text>
          <Select
            label="What ended it"
            data={[
              { value: 'SETTLED', label: settled.settled },
              { value: 'WRITTEN_OFF', label: 'It is written off' },
            ]}
            required
            {...form.getInputProps('outcome')}
          />
          {kind === 'bank_exceptions' && form.values.outcome === 'SETTLED' && (
            <Select label="By which account" data={AGAINST} required {...form.getInputProps('against')} />
          )}
          <FundFields
            form={form}
            amountOf={`At most ${open}`}
            referenceOf="Of the transfer or settlement, or of the decision to write it off: each is entered once"
          />
        </>
      )}
      submit={({ outcome, against, ...values }) =>
        settle(accountId, {
          ...bodyOf(values),
          outcome: outcome!,
          ...(kind === 'bank_exceptions' && outcome === 'SETTLED' && { against }),
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
