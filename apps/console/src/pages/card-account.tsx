import { Anchor, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { api, apiAt, responseOf, type Schemas } from '../api.ts'
import { FormDialog } from '../parts/form-dialog.tsx'
import { ObjectHistory } from '../parts/history.tsx'
import { Instant } from '../parts/instant.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { about, Money, readRupees, rupees } from '../parts/money.tsx'
import { notifyWaiting } from '../parts/notify-waiting.ts'
import { Facts, Page, Section } from '../parts/page.tsx'
import { StatementButton } from '../parts/statement-button.tsx'
import { Id, ThingLink } from '../parts/thing-link.tsx'
import { TransferList } from '../parts/transfer-list.tsx'
import { queryClient, useSession } from '../session.ts'
import { accountTypeLabel, productLabel } from '../words.ts'

export function CardAccount() {
  const { cardAccountId = '' } = useParams({ strict: false })
  const { can } = useSession()
  const query = useQuery({
    queryKey: ['card-accounts', cardAccountId],
    queryFn: () =>
      responseOf(api.GET('/card-accounts/{cardAccountId}', { params: { path: { cardAccountId } } })),
  })
  return (
    <Page
      title={query.data ? `${query.data.programme} of ${query.data.companyName}` : 'Card account'}
      trail={[{ to: '/card-accounts', label: 'Card accounts' }]}
      actions={query.data && can('finance') && <Fund cardAccountId={cardAccountId} />}
    >
      <Loaded query={query}>
        {(account) => (
          <>
            <About account={account} />
            <Section
              title="Movements"
              aside={
                <StatementButton
                  href={`${apiAt}/card-accounts/${account.cardAccountId}/statement.pdf`}
                  name={`card-account-${account.cardAccountId}`}
                  compact
                />
              }
            >
              <TransferList accountId={account.ledgerAccountId} />
            </Section>
            <ObjectHistory id={account.cardAccountId} />
          </>
        )}
      </Loaded>
    </Page>
  )
}

function About({ account }: { readonly account: Schemas['CardAccountDetail'] }) {
  const { cardAccountId, partnerId, companyId, companyName, product, accountType, binType } = account
  const { denomination, balance, ledgerAccountId, cards, createdOn } = account
  return (
    <Section
      title="About"
      aside={
        <Anchor component={Link} to="/cards" search={{ cardAccountId } as never} size="sm">
          Its cards ({about(cards)})
        </Anchor>
      }
    >
      <Facts
        facts={[
          { label: 'Balance', value: <Money amount={balance} fw={700} fz="xl" /> },
          { label: 'Load by default', value: <Money amount={denomination} /> },
          {
            label: 'Company',
            value: (
              <ThingLink kind="company" id={companyId}>
                {companyName}
              </ThingLink>
            ),
          },
          { label: 'Card account id', value: <Id id={cardAccountId} what="card account id" /> },
          { label: 'Partner', value: <ThingLink kind="partner" id={partnerId} /> },
          { label: 'Ledger account', value: <ThingLink kind="ledgerAccount" id={ledgerAccountId} /> },
          { label: 'Product', value: productLabel(product) },
          { label: 'Type', value: `${accountTypeLabel(accountType)}, BIN type ${binType}` },
          { label: 'Created', value: <Instant at={createdOn} long /> },
        ]}
      />
    </Section>
  )
}

function Fund({ cardAccountId }: { readonly cardAccountId: string }) {
  return (
    <FormDialog
      label="Fund"
      send="Enter the money"
      initial={{ amount: '', reference: '', reason: '' }}
      rules={{
        amount: (value: string) => {
          const amount = readRupees(value)
          return amount && Number(amount) > 0 ? null : 'Rupees with at most two decimals, such as 2,50,000'
        },
        reference: (value: string) =>
          /^[A-Za-z0-9][A-Za-z0-9 /_-]{5,63}$/.test(value.trim()) ? null : 'At least 6 letters and digits',
        reason: (value: string) => (value.trim() ? null : 'Say why: it is kept in the books'),
      }}
      fields={(form) => (
        <>
          <TextInput
            label="Amount in rupees"
            description="What the partner has paid in, as the bank statement shows it"
            inputMode="decimal"
            leftSection="₹"
            data-autofocus
            {...form.getInputProps('amount')}
          />
          <TextInput
            label="Bank reference"
            description="Of the partner’s payment, such as its UTR: each is entered once"
            {...form.getInputProps('reference')}
          />
          <TextInput
            label="Reason"
            description="Kept in the books and the audit"
            {...form.getInputProps('reason')}
          />
        </>
      )}
      submit={async ({ amount, reference, reason }) => {
        const entered = await responseOf(
          api.POST('/card-accounts/{cardAccountId}/funds', {
            params: { path: { cardAccountId } },
            body: {
              amount: readRupees(amount) ?? amount,
              reference: reference.trim(),
              reason: reason.trim(),
            },
          }),
        )
        if ('approvalId' in entered) notifyWaiting(entered.amount)
        else
          notifications.show({
            color: 'teal',
            message: `Entered. The balance is ${rupees(entered.balance)} now.`,
          })
        await queryClient.invalidateQueries({ queryKey: ['card-accounts'] })
        await queryClient.invalidateQueries({ queryKey: ['ledger'] })
      }}
    />
  )
}
