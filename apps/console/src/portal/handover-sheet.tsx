import { Alert, Anchor, Box, Button, Code, Group, Stack, Text, Title } from '@mantine/core'
import { Copy, CopyWide } from '../parts/copy.tsx'
import { WarningIcon } from '../parts/icons.tsx'
import { Id } from '../parts/object-link.tsx'
import { Facts, Section } from '../parts/page.tsx'
import type { Schemas } from './api.ts'

type Sheet = Schemas['HandoverSheet']

const NAMES = {
  partner: { tenant: 'Partner id', credential: 'Client id', secret: 'Client secret' },
  merchant: { tenant: 'Merchant id', credential: 'Key id', secret: 'API key' },
} as const

/** What a link hands over, the only time that it can be seen: it lives in the memory of this page alone. */
export function HandoverSheet({ sheet, onDone }: { readonly sheet: Sheet; readonly onDone: () => void }) {
  const { kind, credential, sharedKey, guides } = sheet
  const names = NAMES[kind]
  const jwk = sharedKey && JSON.stringify(sharedKey, undefined, 2)
  return (
    <Box component="main" maw={760} mx="auto" p="md" className="print-sheet">
      <Stack>
        <Title order={1} size="h2">
          Credentials for your programs
        </Title>
        <Alert color="orange" icon={<WarningIcon />} title="Keep them now">
          This is the only time that they are shown, and the link is used up. Copy or print them, and keep
          them where you keep secrets.
        </Alert>
        <WhereAndWho sheet={sheet} />
        <Section title={names.secret} aside={<Copy text={credential.secret} what={names.secret} />}>
          <Secret text={credential.secret} id="secret" />
        </Section>
        {jwk && (
          <Section title="Shared encryption key" aside={<Copy text={jwk} what="shared key" />}>
            <Secret text={jwk} id="shared-key" />
          </Section>
        )}
        <Section title="How to go on">
          {guides.map(({ title, url }) => (
            <Text key={url} size="sm">
              {title}:{' '}
              <Anchor
                href={url}
                target="_blank"
                rel="noreferrer"
                inherit
                style={{ overflowWrap: 'anywhere' }}
              >
                {url}
              </Anchor>
            </Text>
          ))}
        </Section>
        <Group justify="space-between" className="not-printed">
          <Group gap="xs">
            <CopyWide text={JSON.stringify(sheet, undefined, 2)} what="all as JSON" />
            <Button variant="default" onClick={() => window.print()}>
              Print
            </Button>
          </Group>
          <Button onClick={onDone}>I have kept them</Button>
        </Group>
      </Stack>
    </Box>
  )
}

function Secret({ text, id }: { readonly text: string; readonly id: string }) {
  return (
    <Code block data-testid={id} style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
      {text}
    </Code>
  )
}

function WhereAndWho({ sheet }: { readonly sheet: Sheet }) {
  const { kind, tenantId, accessKey, baseUrl, tokenUrl, credential } = sheet
  const names = NAMES[kind]
  return (
    <Section title="Where and who">
      <Facts
        cols={2}
        facts={[
          { label: names.tenant, value: <Id id={tenantId} what={names.tenant.toLowerCase()} /> },
          ...(accessKey
            ? [{ label: 'merchantAccessKey', value: <Id id={accessKey} what="merchantAccessKey" /> }]
            : []),
          { label: names.credential, value: <Id id={credential.credentialId} what="id" /> },
          { label: 'Base URL', value: <Id id={baseUrl} what="base URL" /> },
          { label: 'Access tokens from', value: <Id id={tokenUrl} what="address" /> },
        ]}
      />
    </Section>
  )
}
