import { Alert, Anchor, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { api, responseOf, type Schemas } from '../api.ts'
import { WarningIcon } from '../parts/icons.tsx'
import { Instant } from '../parts/instant.tsx'
import { lazyPart } from '../parts/lazy-part.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Id, ObjectLink } from '../parts/object-link.tsx'
import { Facts, Page, Section } from '../parts/page.tsx'
import { MASK, Reveal } from '../parts/personal-data.tsx'
import { REFRESH_MS, WebhookAttempts } from './webhook-attempts.tsx'
import { EndpointState, LastAttempt, waitingText } from './webhooks.tsx'

const WebhookActions = lazyPart(async () => (await import('./webhook-actions.tsx')).WebhookActions, null)

type Detail = Schemas['WebhookDetail']

export function Webhook() {
  const { endpointId = '' } = useParams({ strict: false })
  const query = useQuery({
    queryKey: ['webhooks', endpointId],
    queryFn: () => responseOf(api.GET('/webhooks/{endpointId}', { params: { path: { endpointId } } })),
    // Deliveries are made, and the service may switch it off, while one looks.
    refetchInterval: REFRESH_MS,
  })
  const endpoint = query.data
  return (
    <Page
      title={endpoint?.url ?? 'Webhook'}
      badge={endpoint && <EndpointState endpoint={endpoint} />}
      lead={endpoint?.description}
      trail={[{ to: '/webhooks', label: 'Webhooks' }]}
      actions={endpoint && <WebhookActions endpoint={endpoint} />}
    >
      <Loaded query={query}>
        {(detail) => (
          <>
            {!detail.enabled && <Off detail={detail} />}
            <About detail={detail} />
            <Section title="Attempts" aside={<Reveal id={endpointId} shown={MASK} />}>
              <WebhookAttempts endpoint={detail} />
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  )
}

/** Why nothing is sent, and what to do about it. */
function Off({ detail: row }: { readonly detail: Detail }) {
  const gone = row.disabledReason === 'gone'
  return (
    <Alert
      color="orange"
      icon={<WarningIcon />}
      title={gone ? 'The service switched this endpoint off' : 'This endpoint is disabled'}
      component="section"
      aria-label="Why nothing is sent"
    >
      <Stack gap={6}>
        <Text size="sm">
          {gone && (
            <>
              Its last response, of <Instant at={row.lastAttempt?.startedOn} />, was status 410, which says
              that it wants no more.{' '}
            </>
          )}
          Nothing is sent to it, and what happens meanwhile is not kept for it.
        </Text>
        <Text size="sm">
          {gone
            ? `Ask ${row.tenantName} whether the address has moved, and change it here if it has. Then enable`
            : 'Enable'}{' '}
          it, and replay the time that it was off: so it gets what it has missed.
        </Text>
      </Stack>
    </Alert>
  )
}

function About({ detail }: { readonly detail: Detail }) {
  const { secrets, tenantId, tenantKind, tenantName, waiting, lastAttempt } = detail
  const { endpointId, types, headerNames, createdOn, modifiedOn } = detail
  return (
    <Section
      title="About"
      aside={
        <Group gap="md">
          <Anchor component={Link} to="/webhooks" search={{ tenantId } as never} size="sm">
            All of this tenant
          </Anchor>
          <Anchor component={Link} to="/audit" search={{ target: endpointId } as never} size="sm">
            Audit
          </Anchor>
        </Group>
      }
    >
      <Facts
        facts={[
          { label: 'Endpoint id', value: <Id id={endpointId} what="endpoint id" /> },
          {
            label: tenantKind === 'merchant' ? 'Merchant' : 'Partner',
            value: (
              <ObjectLink kind={tenantKind} id={tenantId}>
                {tenantName}
              </ObjectLink>
            ),
          },
          { label: 'Sends', value: types.length === 0 ? 'Every event' : types.join(', ') },
          { label: 'Waiting to be delivered', value: waitingText(waiting) },
          { label: 'Last attempt', value: <LastAttempt attempt={lastAttempt} /> },
          { label: 'Headers of its own', value: headerNames.join(', ') },
          { label: 'Signing secrets', value: <Secrets secrets={secrets} /> },
          { label: 'Created', value: <Instant at={createdOn} long /> },
          { label: 'Changed', value: <Instant at={modifiedOn} long /> },
        ]}
      />
    </Section>
  )
}

function Secrets({ secrets }: Pick<Detail, 'secrets'>) {
  return secrets.map(({ createdOn, expiresOn }) => (
    <div key={createdOn}>
      of <Instant at={createdOn} />
      {expiresOn && (
        <>
          , signs until <Instant at={expiresOn} />
        </>
      )}
    </div>
  ))
}
