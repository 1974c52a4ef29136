import { Anchor, Button, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { api, responseOf, type Schemas } from '../api.ts'
import { type FormKey, once } from '../form-key.ts'
import { ConfirmAction } from '../parts/confirm-action.tsx'
import { type Column, DataTable } from '../parts/data-table.tsx'
import { Instant } from '../parts/instant.tsx'
import { lazyPart } from '../parts/lazy-part.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Id } from '../parts/object-link.tsx'
import { Facts, Page, Section } from '../parts/page.tsx'
import { type PageTab, PageTabs } from '../parts/page-tabs.tsx'
import { SecretOnce } from '../parts/secret-once.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'
import { queryClient, useSession } from '../session.ts'
import { productLabel } from '../words.ts'
import { PartnerRecordSettings } from './record-settings.tsx'
import { setUpQuery } from './set-up-state.ts'
import {
  AUDIT_TAB,
  Keys,
  People,
  TenantLinks,
  type TenantPart,
  useFirstTab,
  WEBHOOKS_TAB,
} from './tenant-parts.tsx'

const PartnerFigures = lazyPart(async () => (await import('./partner-figures.tsx')).PartnerFigures)
const PartnerSpend = lazyPart(async () => (await import('./partner-figures.tsx')).PartnerSpend)
const CardAccounts = lazyPart(async () => (await import('./lists-of-partner.tsx')).CardAccountsOf)
const Companies = lazyPart(async () => (await import('./lists-of-partner.tsx')).CompaniesOf)
const Cards = lazyPart(async () => (await import('./lists-of-partner.tsx')).CardsOf)
const Coins = lazyPart(async () => (await import('./lists-of-partner.tsx')).CoinConfigsOf)

type Detail = Schemas['PartnerDetail']

interface PartnerPart extends TenantPart {
  readonly partner: Detail
}

const TABS: readonly PageTab<PartnerPart>[] = [
  {
    key: 'accounts',
    label: 'Accounts',
    Part: ({ tenantId }) => (
      <Stack gap="md">
        <PartnerSpend partnerId={tenantId} />
        <CardAccounts of={{ partnerId: tenantId }} />
      </Stack>
    ),
  },
  {
    key: 'companies',
    label: 'Companies',
    Part: ({ tenantId }) => <Companies of={{ partnerId: tenantId }} />,
  },
  {
    key: 'cards',
    label: 'Cards',
    Part: ({ tenantId }) => (
      <Stack gap="md">
        <Cards of={{ partnerId: tenantId }} />
        <PartnerRecordSettings partnerId={tenantId} />
      </Stack>
    ),
  },
  { key: 'coins', label: 'Coins', Part: ({ tenantId }) => <Coins of={{ partnerId: tenantId }} /> },
  {
    key: 'keys',
    label: 'Keys',
    Part: ({ partner, tenantId }) => (
      <Stack gap="md">
        <Keys tenantId={tenantId} />
        <JweKeysCard partner={partner} />
      </Stack>
    ),
  },
  WEBHOOKS_TAB,
  { key: 'people', label: 'People', Part: People },
  AUDIT_TAB,
]

const changed = () => queryClient.invalidateQueries({ queryKey: ['partners'] })

export function Partner() {
  const { partnerId = '' } = useParams({ strict: false })
  const first = useFirstTab('keys')
  const query = useQuery({
    queryKey: ['partners', partnerId],
    queryFn: () => responseOf(api.GET('/partners/{partnerId}', { params: { path: { partnerId } } })),
  })
  return (
    <Page
      title={query.data?.name ?? 'Partner'}
      badge={query.data && <StatusBadge state={query.data.status} />}
      trail={[{ to: '/partners', label: 'Partners' }]}
      actions={
        query.data && (
          <>
            <ContinueSetUp partnerId={query.data.partnerId} />
            <Switch partner={query.data} />
          </>
        )
      }
    >
      <Loaded query={query}>
        {(partner) => (
          <>
            <PartnerFigures partnerId={partner.partnerId} />
            <About partner={partner} />
            <PageTabs
              label={`Of ${partner.name}`}
              tabs={TABS}
              first={first}
              given={{ partner, tenantId: partnerId }}
            />
          </>
        )}
      </Loaded>
    </Page>
  )
}

/** Where steps between the partner and its first card are missing. */
function ContinueSetUp({ partnerId }: { readonly partnerId: string }) {
  const { can } = useSession()
  const { data } = useQuery(setUpQuery(partnerId))
  if (!can('operations') || data?.next === undefined) return undefined
  return (
    <Button component={Link} to={`/partners/${partnerId}/set-up`}>
      Continue set-up
    </Button>
  )
}

function About({ partner }: { readonly partner: Detail }) {
  const { partnerId, products, plainRequests, createdOn, disabledOn } = partner
  return (
    <Section title="About" aside={<TenantLinks tenantId={partnerId} />}>
      <Facts
        facts={[
          { label: 'Partner id', value: <Id id={partnerId} what="partner id" /> },
          { label: 'Products', value: products.map(productLabel).join(', ') },
          { label: 'Requests', value: plainRequests ? 'May be plain (sandbox)' : 'Must be encrypted' },
          { label: 'Created', value: <Instant at={createdOn} long /> },
          ...(disabledOn ? [{ label: 'Disabled', value: <Instant at={disabledOn} long /> }] : []),
        ]}
      />
    </Section>
  )
}

function Switch({ partner: { partnerId, status } }: { readonly partner: Detail }) {
  const { can } = useSession()
  if (!can('operations')) return undefined
  const set = async (disabled: boolean) => {
    await responseOf(
      api.PATCH('/partners/{partnerId}', { params: { path: { partnerId } }, body: { disabled } }),
    )
    await changed()
  }
  return status === 'active' ? (
    <ConfirmAction label="Disable" confirm="Disable partner" danger run={() => set(true)}>
      Its tokens and sessions die within a second and it gets no new ones. Cards of its users stay as they
      are. It can be enabled again.
    </ConfirmAction>
  ) : (
    <ConfirmAction label="Enable" confirm="Enable partner" run={() => set(false)}>
      Its clients work again.
    </ConfirmAction>
  )
}

const KEYS_PATH = '/partners/{partnerId}/encryption-keys'

const NoOwnKeys = () => (
  <Text c="dimmed" size="sm">
    None of its own: it encrypts to the{' '}
    <Anchor href="/.well-known/jwks.json" inherit underline="always">
      keys that the service publishes
    </Anchor>
    .
  </Text>
)

function JweKeysCard({ partner: { partnerId, jweKeys } }: { readonly partner: Detail }) {
  const { can, mode } = useSession()
  const [jwk, setJwk] = useState<string>()
  const columns: Column<Schemas['JweKey']>[] = [
    { title: 'Key id (kid)', cell: ({ kid }) => <Id id={kid} what="key id" /> },
    {
      title: 'Kind',
      cell: ({ kind }) => (kind === 'shared' ? 'Shared secret' : 'Public key of the partner'),
    },
    { title: 'Algorithm', cell: ({ alg }) => alg },
    { title: 'Since', cell: ({ createdOn }) => <Instant at={createdOn} /> },
    { title: 'State', cell: ({ retiredOn }) => <StatusBadge state={retiredOn ? 'RETIRED' : 'ACTIVE'} /> },
  ]
  const retire = async (kid: string) => {
    await responseOf(
      api.DELETE('/partners/{partnerId}/encryption-keys/{kid}', { params: { path: { partnerId, kid } } }),
    )
    await changed()
  }
  const issue = async (_: string, key: FormKey) => {
    const jwk = await responseOf(api.POST(KEYS_PATH, { params: { path: { partnerId }, header: once(key) } }))
    setJwk(JSON.stringify(jwk, undefined, 2))
    await changed()
  }
  if (can('operations'))
    columns.push({
      title: '',
      align: 'right',
      cell: ({ kid, retiredOn }) =>
        !retiredOn && (
          <ConfirmAction label="Retire" confirm="Retire for good" danger compact run={() => retire(kid)}>
            Within a second nothing encrypted with <code>{kid}</code> is opened any more. Make sure that the
            partner encrypts with another key.
          </ConfirmAction>
        ),
    })
  return (
    <Section
      title="Encryption keys"
      aside={
        mode === 'sandbox' &&
        can('operations') && (
          <ConfirmAction label="Issue shared key" confirm="Issue" run={issue}>
            Draws a secret that the partner and the service share. It is shown once, as a JWK.
          </ConfirmAction>
        )
      }
    >
      {jweKeys.length === 0 ? (
        <NoOwnKeys />
      ) : (
        <DataTable caption="Encryption keys" columns={columns} rows={jweKeys} rowKey={({ kid }) => kid} />
      )}
      <SecretOnce what="Shared key" secret={jwk} onDone={() => setJwk(undefined)} />
    </Section>
  )
}
