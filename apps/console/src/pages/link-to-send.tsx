import { Alert, Code, Group, Stack } from '@mantine/core'
import { CopyWide } from '../parts/copy.tsx'
import { WarningIcon } from '../parts/icons.tsx'
import { LINK_LOST } from '../parts/tenant-handovers.tsx'

/** The link lives in the memory of this page alone. */
export function LinkToSend({ link }: { readonly link: string }) {
  return (
    <Alert color="orange" icon={<WarningIcon />} title="Copy the link now" mb="md">
      <Stack gap="sm">
        <div>This is the only time it is shown. {LINK_LOST}</div>
        <Code block data-testid="secret" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
          {link}
        </Code>
        <Group>
          <CopyWide text={link} what="link" />
        </Group>
      </Stack>
    </Alert>
  )
}
