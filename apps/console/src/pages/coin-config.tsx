import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { api, responseOf, type Schemas } from '../api.ts'
import { Instant } from '../parts/instant.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { count } from '../parts/money.tsx'
import { Id, ObjectLink } from '../parts/object-link.tsx'
import { Facts, Page, Section } from '../parts/page.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'
import { Timeline } from '../parts/timeline.tsx'
import { useSession } from '../session.ts'
import { ChangeCoinConfig } from './coin-config-forms.tsx'

type Config = Schemas['CoinConfig']

export function CoinConfig() {
  const { can } = useSession()
  const { coinConfigId = '' } = useParams({ strict: false })
  const query = useQuery({
    queryKey: ['coin-configs', coinConfigId],
    queryFn: () =>
      responseOf(api.GET('/coin-configs/{coinConfigId}', { params: { path: { coinConfigId } } })),
  })
  return (
    <Page
      title={query.data?.config.title ?? 'Coin configuration'}
      badge={query.data && <StatusBadge state={query.data.config.status} />}
      lead={query.data?.config.description}
      trail={[{ to: '/coins', label: 'Coins' }]}
      actions={query.data && can('operations') && <ChangeCoinConfig config={query.data.config} />}
    >
      <Loaded query={query}>
        {({ config, partnerId, revisions }) => (
          <>
            <About config={config} partnerId={partnerId} />
            <Section title="Revisions">
              <Timeline
                entries={revisions.map((revision, index) => ({
                  at: revision.modifiedOn,
                  title: `Revision ${revision.revision}`,
                  detail: <Differences now={revision} before={revisions[index + 1]} />,
                }))}
              />
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  )
}

function About({ config, partnerId }: { readonly config: Config; readonly partnerId: string }) {
  return (
    <Section title={`Revision ${config.revision}, in force`}>
      <Facts
        facts={[
          { label: 'Configuration id', value: <Id id={config.coinConfigId} what="configuration id" /> },
          { label: 'Event', value: config.event },
          { label: 'Award', value: `${count(config.amount)} coins` },
          { label: 'Partner', value: <ObjectLink kind="partner" id={partnerId} /> },
          {
            label: 'For',
            value: config.companyId ? (
              <ObjectLink kind="company" id={config.companyId} />
            ) : (
              'all companies without one of their own'
            ),
          },
          {
            label: 'Daily limit of a user',
            value:
              config.perUserDailyLimit === undefined ? 'None' : `${count(config.perUserDailyLimit)} coins`,
          },
          { label: 'Valid from', value: <Instant at={config.validFrom} /> },
          { label: 'Valid to', value: config.validTo ? <Instant at={config.validTo} /> : 'Open' },
          { label: 'Awards are active', value: activationOf(config) },
          {
            label: 'Coins expire',
            value:
              config.coinsExpireAfterDays === undefined
                ? 'Never'
                : `${config.coinsExpireAfterDays} days after they became active`,
          },
        ]}
      />
    </Section>
  )
}

function activationOf({ activation, activateAfterDays }: Config): string {
  if (activation === 'CONFIRMATION') return 'when the partner confirms them'
  return activateAfterDays === undefined ? 'at once' : `after ${activateAfterDays} days`
}

const FIELDS: readonly (readonly [keyof Config, string])[] = [
  ['title', 'title'],
  ['description', 'description'],
  ['amount', 'coins'],
  ['status', 'status'],
  ['event', 'event'],
  ['validFrom', 'valid from'],
  ['validTo', 'valid to'],
  ['perUserDailyLimit', 'daily limit'],
  ['coinsExpireAfterDays', 'expire after days'],
  ['activation', 'activation'],
  ['activateAfterDays', 'active after days'],
]

/** What a revision changed of the one before. */
function Differences({ now, before }: { readonly now: Config; readonly before: Config | undefined }) {
  if (!before)
    return <Text size="sm">{now.revision === 1 ? 'Created' : 'Older revisions are not shown'}</Text>
  const changes = FIELDS.filter(([field]) => now[field] !== before[field])
  return (
    <>
      {changes.map(([field, label]) => (
        <Text key={field} size="sm">
          {label}: {String(before[field] ?? 'none')} → <b>{String(now[field] ?? 'none')}</b>
        </Text>
      ))}
    </>
  )
}
