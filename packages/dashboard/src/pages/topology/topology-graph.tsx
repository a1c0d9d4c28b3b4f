import '@xyflow/react/dist/base.css';
import './topology-graph.css';
import { Background, MarkerType, Panel, ReactFlow, ReactFlowProvider, useReactFlow } from '@xyflow/react';
import { useCallback, useEffect, useEffectEvent, useMemo, useRef } from 'react';
import { Skeleton } from '../../ui/skeleton.tsx';
import type { TopologyNode } from './flow-nodes.ts';
import { flowEdges, flowNodes } from './flow-nodes.ts';
import type { GraphActions } from './graph-context.ts';
import { GraphContext } from './graph-context.ts';
import { GraphBar } from './graph-bar.tsx';
import { AgentNodeView, BoxNodeView } from './graph-nodes.tsx';
import type { OrgGroup } from './topology-groups.ts';
import { everyKey } from './topology-groups.ts';
import type { TopologyAgent } from './topology-model.ts';
import type { Layout } from './use-layout.ts';
import { useLayout } from './use-layout.ts';

interface TopologyGraphProps extends Omit<GraphActions, 'onToggle'> {
  readonly orgs: readonly OrgGroup[];
  readonly open: ReadonlySet<string>;
  readonly onOpenKeys: (open: ReadonlySet<string>) => void;
  /** Changes when another part is requested. The graph then brings all of it into view. */
  readonly viewKey: string;
}

const nodeTypes = { box: BoxNodeView, agent: AgentNodeView };
const fit = { padding: 0.04, maxZoom: 1 };
/** Below this zoom nobody can read the graph. It then shows the start, and the person drags the rest into view. */
const readableZoom = 0.72;
const edgeOptions = { markerEnd: { type: MarkerType.ArrowClosed, width: 14, height: 14, color: 'var(--color-edge)' } };
const margin = 16;
/** More than this at once belongs in the table. */
const mostToOpen = 500;

/** Orgs, teams and agents as boxes in boxes, with arrows from parents to children. */
export function TopologyGraph(props: TopologyGraphProps) {
  return (
    <ReactFlowProvider>
      <Graph {...props} />
    </ReactFlowProvider>
  );
}

function Graph({ orgs, open, onOpenKeys, viewKey, now, activePath, onOpen, onSuspension, holdOf }: TopologyGraphProps) {
  const flow = useReactFlow();
  const layout = useLayout(orgs, open);
  const move = useArranged(layout, viewKey);
  const nodes = useMemo(
    () => (layout === undefined ? new Map<string, TopologyNode>() : flowNodes(orgs, layout)),
    [orgs, layout],
  );
  const list = useMemo(() => [...nodes.values()], [nodes]);
  const edges = useMemo(() => flowEdges(orgs, layout?.open ?? new Set(), nodes), [orgs, layout, nodes]);
  const onToggle = useSteady((key: string) => {
    move({ key });
    onOpenKeys(open.has(key) ? new Set([...open].filter((each) => each !== key)) : new Set([...open, key]));
  });
  const openAgent = useSteady(onOpen);
  const suspend = useSteady((agent: TopologyAgent) => onSuspension?.(agent));
  const maySuspend = onSuspension !== undefined;
  const actions = useMemo<GraphActions>(
    () => ({ now, activePath, onOpen: openAgent, onSuspension: maySuspend ? suspend : undefined, onToggle, holdOf }),
    [now, activePath, openAgent, maySuspend, suspend, onToggle, holdOf],
  );
  const agents = orgs.reduce((sum, org) => sum + org.agents, 0);
  const openAll = (keys: readonly string[]) => {
    move('everything');
    onOpenKeys(new Set(keys));
  };
  return (
    <GraphContext value={actions}>
      <GraphBar
        mayOpenAll={agents <= mostToOpen}
        onOpenAll={() => openAll(everyKey(orgs))}
        onCloseAll={() => openAll([])}
        onFit={() => void flow.fitView(fit)}
      />
      <ReactFlow
        className="min-h-0 flex-1"
        aria-label="Graph of orgs, teams and agents"
        nodes={list}
        edges={edges}
        nodeTypes={nodeTypes}
        defaultEdgeOptions={edgeOptions}
        onlyRenderVisibleElements
        nodesDraggable={false}
        nodesConnectable={false}
        nodesFocusable={false}
        edgesFocusable={false}
        elementsSelectable={false}
        disableKeyboardA11y
        deleteKeyCode={null}
        minZoom={0.1}
        maxZoom={1.5}
      >
        <Background color="var(--color-border)" gap={24} />
        {layout === undefined ? (
          <Panel position="top-left">
            <Skeleton label="Drawing the graph" lines={3} className="w-80" />
          </Panel>
        ) : null}
      </ReactFlow>
    </GraphContext>
  );
}

/** A stable function that calls the newest one, so that nothing is redrawn for it. */
function useSteady<Input>(act: (input: Input) => void): (input: Input) => void {
  const newest = useRef(act);
  useEffect(() => {
    newest.current = act;
  });
  return useCallback((input: Input) => newest.current(input), []);
}

/** What a person just opened or closed. Undefined if the graph changes by itself. */
type Moved = { readonly key: string } | 'everything' | undefined;

/**
 * Keeps what was opened or closed in its place on the screen. Fits everything into view when another part was
 * requested. Agents that come and go move nothing.
 */
function useArranged(layout: Layout | undefined, viewKey: string): (what: Moved) => void {
  const flow = useReactFlow();
  const moved = useRef<Moved>(undefined);
  const before = useRef<{ readonly viewKey: string; readonly places: Layout['places'] }>(undefined);
  const showBeginning = async () => {
    await flow.fitView(fit);
    if (flow.getZoom() < readableZoom) await flow.setViewport({ x: margin, y: margin, zoom: readableZoom });
  };
  const arrange = useEffectEvent((places: Layout['places']) => {
    const isSameView = before.current?.viewKey === viewKey;
    const what = isSameView ? moved.current : 'everything';
    const from = typeof what === 'object' ? before.current?.places.get(what.key) : undefined;
    const to = typeof what === 'object' ? places.get(what.key) : undefined;
    before.current = { viewKey, places };
    moved.current = undefined;
    if (what === 'everything') requestAnimationFrame(() => void showBeginning());
    if (from === undefined || to === undefined) return;
    const { x, y, zoom } = flow.getViewport();
    void flow.setViewport({ x: x + (from.x - to.x) * zoom, y: y + (from.y - to.y) * zoom, zoom });
  });
  useEffect(() => {
    if (layout !== undefined) arrange(layout.places);
  }, [layout]);
  return useCallback((what: Moved) => {
    moved.current = what;
  }, []);
}
