import { Alert, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { responseOf } from '../../api.ts'
import { once } from '../../form-key.ts'
import { accountOf, BANK_ACCOUNT_RULES, BankAccountFields } from '../../parts/bank-account-fields.tsx'
import { CHANGE_COLUMNS, wantedOf } from '../../parts/change-requests.tsx'
import { ConfirmAction } from '../../parts/confirm-action.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import { FEE_RULES, FeeFields } from '../../parts/fee-fields.tsx'
import { FormDialog, needed } from '../../parts/form-dialog.tsx'
import { dayText, Instant } from '../../parts/instant.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { counted, rupees } from '../../parts/money.tsx'
import { Facts, Page, Section } from '../../parts/page.tsx'
import { sentenceCase } from '../../words.ts'
import { api, type Schemas } from '../api.ts'
import { changed, useMember } from '../session.ts'

type Terms = Schemas['OwnPayoutTerms']

/** Where payouts go, what is charged, and the address that customers pay to; what waits, and what holds meanwhile. */
export function BankAccount() {
  const terms = useQuery({ queryKey: ['payout-terms'], queryFn: () => responseOf(api.GET('/payout-terms')) })
  return (
    <Page
      title="Bank account and fee"
      lead="Ask for a change here: the operator approves it. What waits shows here, and what holds until then."
    >
      <Loaded query={terms}>
        {(one) => (
          <>
            <Requests requests={one.requests} />
            <Account terms={one} />
            <Address terms={one} />
            <Fees terms={one} />
            <Schedule terms={one} />
          </>
        )}
      </Loaded>
    </Page>
  )
}

/** What was asked for: what waits can be taken back. */
function Requests({ requests }: Pick<Terms, 'requests'>) {
  const { can } = useMember()
  if (requests.length === 0) return null
  const takeBack = {
    title: '',
    align: 'right' as const,
    cell: (row: Terms['requests'][number]) =>
      row.status === 'PENDING' && (
        <ConfirmAction
          label="Take back"
          confirm="Take it back"
          danger
          compact
          run={async () => {
            const params = { path: { approvalId: row.approvalId } }
            await responseOf(api.DELETE('/change-requests/{approvalId}', { params }))
            await changed('payout-terms')
          }}
        >
          {wantedOf(row)}: nothing changes, and you can ask again.
        </ConfirmAction>
      ),
  }
  return (
    <Section title="What you asked for">
      <DataTable
        caption="What you asked for"
        columns={can('admin') ? [...CHANGE_COLUMNS, takeBack] : CHANGE_COLUMNS}
        rows={requests}
        rowKey={({ approvalId }) => approvalId}
      />
    </Section>
  )
}

const waits = ({ requests }: Terms, kind: Terms['requests'][number]['kind']): boolean =>
  requests.some((each) => each.kind === kind && each.status === 'PENDING')

/** Nothing where one waits already. */
function AskForAccount({ terms }: { readonly terms: Terms }) {
  const { can } = useMember()
  if (!can('admin') || waits(terms, 'bank_account')) return null
  return (
    <FormDialog
      label={terms.bankAccount ? 'Ask for another account' : 'Give your bank account'}
      send="Ask the operator"
      variant="default"
      initial={{ holder: terms.bankAccount?.holder ?? '', number: '', ifsc: '' }}
      rules={BANK_ACCOUNT_RULES}
      fields={(form) => <BankAccountFields form={form} />}
      submit={async (values, key) => {
        const params = { header: once(key) }
        await responseOf(api.POST('/change-requests/bank-account', { params, body: accountOf(values) }))
        await changed('payout-terms')
      }}
    />
  )
}

function AskForAddress({ terms }: { readonly terms: Terms }) {
  const { can } = useMember()
  if (!can('admin') || waits(terms, 'payment_address')) return null
  return (
    <FormDialog
      label="Ask for another address"
      send="Ask the operator"
      variant="default"
      initial={{ vpa: '' }}
      rules={{ vpa: needed }}
      fields={(form) => (
        <TextInput
          label="UPI address"
          description="New QR codes pay to it once the operator has approved it and its waiting time is over"
          placeholder="shop@bank"
          data-autofocus
          {...form.getInputProps('vpa')}
        />
      )}
      submit={async ({ vpa }, key) => {
        const params = { header: once(key) }
        await responseOf(api.POST('/change-requests/payment-address', { params, body: { vpa: vpa.trim() } }))
        await changed('payout-terms')
      }}
    />
  )
}

function AskForFee({ terms }: { readonly terms: Terms }) {
  const { can } = useMember()
  if (!can('admin') || waits(terms, 'fee')) return null
  return (
    <FormDialog
      label="Ask for another fee"
      send="Ask the operator"
      variant="default"
      initial={{ percent: terms.fees[0]?.percent ?? '', fixed: terms.fees[0]?.fixed ?? '0' }}
      rules={FEE_RULES}
      fields={(form) => <FeeFields form={form} />}
      submit={async (body, key) => {
        const params = { header: once(key) }
        await responseOf(api.POST('/change-requests/fee', { params, body }))
        await changed('payout-terms')
      }}
    />
  )
}

function Account({ terms }: { readonly terms: Terms }) {
  const { bankAccount } = terms
  return (
    <Section title="Bank account of your payouts" aside={<AskForAccount terms={terms} />}>
      {bankAccount ? (
        <Facts
          facts={[
            { label: 'Account', value: `••${bankAccount.ends}` },
            { label: 'Holder', value: bankAccount.holder },
            { label: 'IFSC', value: bankAccount.ifsc },
            { label: 'Since', value: <Instant at={bankAccount.updatedOn} /> },
            { label: 'State for GST', value: bankAccount.gstState },
            {
              label: 'Payouts',
              value: 'Go here. One that is prepared already keeps the account that it was prepared for.',
            },
          ]}
        />
      ) : (
        <Alert color="yellow" title="None yet">
          Nothing is paid out until the operator has approved your bank account. What you are owed waits.
        </Alert>
      )}
    </Section>
  )
}

function Address({ terms }: { readonly terms: Terms }) {
  const { nextVpa, nextVpaOn, vpa } = terms
  const { can } = useMember()
  return (
    <Section title="UPI address that your customers pay to" aside={<AskForAddress terms={terms} />}>
      <Facts
        facts={[
          { label: 'Now', value: vpa },
          { label: 'Waits', value: nextVpa ?? 'No change' },
          ...(nextVpa ? [{ label: 'Holds from', value: <Instant at={nextVpaOn} long /> }] : []),
        ]}
      />
      {nextVpa && (
        <Alert color="orange" mt="md" title={`New QR codes pay to ${nextVpa} from then on`}>
          Until then payments go to {vpa}. If you did not ask for this change, take it back and notify the
          operator.
          {can('admin') && (
            <div style={{ marginTop: 8 }}>
              <ConfirmAction
                label="Take back"
                confirm="Keep the present address"
                danger
                run={async () => {
                  await responseOf(api.DELETE('/next-payment-address'))
                  await changed('payout-terms', 'overview')
                }}
              >
                New QR codes stay with {vpa}.
              </ConfirmAction>
            </div>
          )}
        </Alert>
      )}
    </Section>
  )
}

function Fees({ terms }: { readonly terms: Terms }) {
  const { fees } = terms
  return (
    <Section title="Fee of each payment" aside={<AskForFee terms={terms} />}>
      {fees.length === 0 ? (
        'Nothing is charged.'
      ) : (
        <DataTable
          caption="Fees"
          columns={[
            { title: 'From', cell: ({ validFrom }) => dayText(validFrom) },
            { title: 'Of the amount', align: 'right', cell: ({ percent }) => `${percent} %` },
            { title: 'And', align: 'right', cell: ({ fixed }) => rupees(fixed) },
          ]}
          rows={fees}
          rowKey={({ validFrom, percent, fixed }) => validFrom + percent + fixed}
        />
      )}
    </Section>
  )
}

function Schedule({ terms: { schedules } }: { readonly terms: Terms }) {
  return (
    <Section title="When payouts are prepared">
      {schedules.length === 0
        ? 'No schedule is set: the operator prepares each payout.'
        : schedules.map(({ after, every, from, minimum, on, periodEnds, preparedOn }) => (
            <Facts
              key={from}
              facts={[
                { label: 'Every', value: `${sentenceCase(every)}${on ? `, ${on}` : ''}` },
                { label: 'From', value: dayText(from) },
                { label: 'After the end of a period', value: counted(after, 'bank day') },
                { label: 'Least amount', value: rupees(minimum) },
                { label: 'Period ends', value: periodEnds && dayText(periodEnds) },
                { label: 'Prepared on', value: preparedOn && dayText(preparedOn) },
              ]}
            />
          ))}
    </Section>
  )
}
