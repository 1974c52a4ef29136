import { Box, Text } from '@mantine/core'

/** Text as it was on the wire. */
export function Written({ title, children }: { readonly title: string; readonly children: string }) {
  return (
    <div>
      <Text size="xs" c="dimmed" mb={4}>
        {title}
      </Text>
      <Box
        component="pre"
        m={0}
        p="sm"
        fz="xs"
        ff="monospace"
        mah={320}
        tabIndex={0}
        role="group"
        aria-label={title}
        style={{
          whiteSpace: 'pre-wrap',
          overflowWrap: 'anywhere',
          overflowY: 'auto',
          border: '1px solid var(--mantine-color-default-border)',
          borderRadius: 'var(--mantine-radius-md)',
        }}
      >
        {children}
      </Box>
    </div>
  )
}
