import { Anchor } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { api, apiAt, listAt, responseOf, type Schemas } from '../api.ts'
import { CardLoads } from '../parts/card-loads.tsx'
import { ObjectHistory } from '../parts/history.tsx'
import { Instant } from '../parts/instant.tsx'
import { lazyPart } from '../parts/lazy-part.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { about, Money } from '../parts/money.tsx'
import { Id, ObjectLink } from '../parts/object-link.tsx'
import { Facts, Page, Section } from '../parts/page.tsx'
import { StatementButton } from '../parts/statement-button.tsx'
import { TransferList } from '../parts/transfer-list.tsx'
import { useSession } from '../session.ts'
import { accountTypeLabel, productLabel } from '../words.ts'
import { BankCredits, Instructions } from './bank-credits.tsx'
import { FundCardAccount, WithdrawFromCardAccount } from './fund-card-account.tsx'
import { AccountRecordSettings } from './record-settings.tsx'
import { SpendRules } from './spend-rules.tsx'

const IssueCard = lazyPart(async () => (await import('./issue-card.tsx')).IssueCard, null)

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
      title={query.data ? `${query.data.cardProgramme} of ${query.data.companyName}` : 'Card account'}
      trail={[{ to: '/card-accounts', label: 'Card accounts' }]}
      actions={
        query.data && (
          <>
            {can('operations') && <IssueCard account={query.data} />}
            {can('finance') && <WithdrawFromCardAccount account={query.data} />}
            {can('finance') && <FundCardAccount cardAccountId={cardAccountId} />}
          </>
        )
      }
    >
      <Loaded query={query}>
        {(account) => (
          <>
            <About account={account} />
            <Instructions cardAccountId={cardAccountId} />
            <BankCredits cardAccountId={cardAccountId} />
            <SpendRules cardAccountId={cardAccountId} />
            <CardLoads id={cardAccountId} load={listAt('/card-transactions', {}, { cardAccountId })} />
            <AccountRecordSettings account={account} />
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
              <ObjectLink kind="company" id={companyId}>
                {companyName}
              </ObjectLink>
            ),
          },
          { label: 'Card account id', value: <Id id={cardAccountId} what="card account id" /> },
          { label: 'Partner', value: <ObjectLink kind="partner" id={partnerId} /> },
          { label: 'Ledger account', value: <ObjectLink kind="ledgerAccount" id={ledgerAccountId} /> },
          { label: 'Product', value: productLabel(product) },
          { label: 'Type', value: `${accountTypeLabel(accountType)}, BIN type ${binType}` },
          { label: 'Created', value: <Instant at={createdOn} long /> },
        ]}
      />
    </Section>
  )
}
