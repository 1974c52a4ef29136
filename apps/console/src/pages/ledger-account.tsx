import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { api, responseOf } from '../api.ts'
import { Instant } from '../parts/instant.tsx'
import { Amount } from '../parts/ledger-words.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { useName } from '../parts/names.ts'
import { Id, IdLink } from '../parts/object-link.tsx'
import { Facts, Page, Section } from '../parts/page.tsx'
import { TransferList } from '../parts/transfer-list.tsx'
import { SettleAccount } from './settle-account.tsx'

export function LedgerAccount() {
  const { accountId = '' } = useParams({ strict: false })
  const { name } = useName(accountId)
  const query = useQuery({
    queryKey: ['ledger-accounts', accountId],
    queryFn: () => responseOf(api.GET('/ledger/accounts/{accountId}', { params: { path: { accountId } } })),
  })
  return (
    <Page
      title={name ?? 'Ledger account'}
      trail={[{ to: '/ledger', label: 'Ledger accounts' }]}
      actions={query.data && <SettleAccount account={query.data} />}
    >
      <Loaded query={query}>
        {({ meaning, normalSide, tenantId, unit, balance, floor, createdOn }) => (
          <>
            <Section title="About">
              <Facts
                facts={[
                  { label: `Balance (${normalSide})`, value: <Amount amount={balance} unit={unit} /> },
                  { label: 'What it is for', value: meaning },
                  {
                    label: 'Never under',
                    value: floor === undefined ? 'No limit' : <Amount amount={floor} unit={unit} />,
                  },
                  { label: 'Account id', value: <Id id={accountId} what="account id" /> },
                  { label: 'Owner', value: <IdLink id={accountId.slice(accountId.indexOf(':') + 1)} /> },
                  { label: 'Tenant', value: <IdLink id={tenantId} /> },
                  { label: 'Opened', value: <Instant at={createdOn} long /> },
                ]}
              />
            </Section>
            <Section title="Journals that move it">
              <TransferList accountId={accountId} />
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  )
}
