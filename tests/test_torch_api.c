#include <check.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/torch/api.h"
#include "analyzer/torch/api_tables.h"

static const struct api_entry *find(const char *name)
{
	return api_find(name, strlen(name));
}

static const struct api_entry *method(const char *class, const char *name)
{
	return api_method(class, strlen(class), name, strlen(name));
}

static void expect(const char *name, enum api_effect effect)
{
	const struct api_entry *entry = find(name);

	ck_assert_msg(entry != NULL, "%s has no row", name);
	ck_assert_msg(entry->effect == (uint8_t)effect, "%s: %s, expected %s", name,
	              api_effect_name((enum api_effect)entry->effect), api_effect_name(effect));
}

static uint32_t offset_at(const struct api_table *table, uint32_t index)
{
	uint32_t offset;

	memcpy(&offset, (const char *)table->rows + (size_t)index * table->size, sizeof(offset));
	return offset;
}

static void expect_sorted(const struct api_table *table)
{
	ck_assert_uint_gt(table->count, 0);
	for (uint32_t i = 1; i < table->count; i++) {
		const char *before = api_name_block + offset_at(table, i - 1);
		const char *now = api_name_block + offset_at(table, i);

		ck_assert_msg(strcmp(before, now) < 0, "%s does not sort before %s", before, now);
	}
}

START_TEST(tables_are_sorted_and_unique)
{
	for (int i = 0; i < API_TABLE_COUNT; i++)
		expect_sorted(&api_tables[i]);
	for (int i = 0; i < 2; i++) {
		expect_sorted(&api_class_tables[i]);
		expect_sorted(&api_alias_tables[i]);
		expect_sorted(&api_result_tables[i]);
	}
}
END_TEST

START_TEST(hooks_are_sorted_and_unique)
{
	const struct api_hook_mode *rows = api_hook_table.rows;

	for (uint32_t i = 1; i < api_hook_table.count; i++) {
		const char *before = api_name_block + rows[i - 1].class_name;
		const char *now = api_name_block + rows[i].class_name;
		int order = strcmp(before, now);

		if (order == 0)
			order = strcmp(api_name_block + rows[i - 1].method,
			               api_name_block + rows[i].method);
		ck_assert_msg(order < 0, "%s.%s", now, api_name_block + rows[i].method);
	}
}
END_TEST

START_TEST(every_row_is_found_and_named)
{
	size_t count = 0;
	const struct api_entry *entry;

	for (; (entry = api_at(count)) != NULL; count++) {
		ck_assert_ptr_eq(find(api_name(entry)), entry);
		ck_assert_ptr_nonnull(api_effect_name((enum api_effect)entry->effect));
		ck_assert_ptr_nonnull(api_kind_name((enum api_kind)entry->result));
	}
	ck_assert_uint_gt(count, 4000);
}
END_TEST

START_TEST(every_class_has_its_base)
{
	for (int t = 0; t < 2; t++) {
		const struct api_class *rows = api_class_tables[t].rows;

		for (uint32_t i = 0; i < api_class_tables[t].count; i++)
			ck_assert_msg(api_name_block[rows[i].base] == '\0' ||
			                      api_class_base(&rows[i]) != NULL,
			              "%s", api_class_name(&rows[i]));
	}
}
END_TEST

START_TEST(every_result_class_is_a_class)
{
	for (int t = 0; t < 2; t++) {
		const struct api_pair *rows = api_result_tables[t].rows;

		for (uint32_t i = 0; i < api_result_tables[t].count; i++) {
			const char *class = api_name_block + rows[i].to;

			ck_assert_msg(find(api_name_block + rows[i].from) != NULL, "%s",
			              api_name_block + rows[i].from);
			ck_assert_msg(api_class_find(class, strlen(class)) != NULL, "%s", class);
		}
	}
}
END_TEST

/* Values that code keeps on purpose: none of them carries a graph. */
static const char *const without_graph[] = {
        "torch.Tensor.__eq__",
        "torch.Tensor.__ge__",
        "torch.Tensor.__gt__",
        "torch.Tensor.__le__",
        "torch.Tensor.__lt__",
        "torch.Tensor.__ne__",
        "torch.Tensor.all",
        "torch.Tensor.any",
        "torch.Tensor.argmax",
        "torch.Tensor.argmin",
        "torch.Tensor.argsort",
        "torch.Tensor.bool",
        "torch.Tensor.byte",
        "torch.Tensor.char",
        "torch.Tensor.eq",
        "torch.Tensor.ge",
        "torch.Tensor.gt",
        "torch.Tensor.int",
        "torch.Tensor.isfinite",
        "torch.Tensor.isnan",
        "torch.Tensor.le",
        "torch.Tensor.long",
        "torch.Tensor.lt",
        "torch.Tensor.multinomial",
        "torch.Tensor.ne",
        "torch.Tensor.nonzero",
        "torch.Tensor.short",
        "torch.argmax",
        "torch.argmin",
        "torch.argsort",
        "torch.bincount",
        "torch.bucketize",
        "torch.eq",
        "torch.isclose",
        "torch.isfinite",
        "torch.isinf",
        "torch.isnan",
        "torch.logical_and",
        "torch.logical_not",
        "torch.multinomial",
        "torch.nn.functional.one_hot",
        "torch.nonzero",
        "torch.ones_like",
        "torch.searchsorted",
        "torch.zeros_like",
};

START_TEST(comparisons_and_indices_have_no_graph)
{
	expect(without_graph[_i], API_CUTS);
}
END_TEST

static const char *const numbers[] = {
        "torch.Tensor.item", "torch.Tensor.tolist", "torch.Tensor.numpy", "torch.Tensor.__float__",
        "builtins.float",    "builtins.int",        "builtins.bool",      "builtins.str",
        "numpy.asarray",     "numpy.mean",          "math.sqrt",          "torch.Tensor.__bool__",
};

START_TEST(numbers_have_no_graph)
{
	expect(numbers[_i], API_NUMBER);
}
END_TEST

START_TEST(tuples_know_their_clean_elements)
{
	static const char *const pairs[] = {
	        "torch.topk",        "torch.sort",   "torch.kthvalue", "torch.Tensor.topk",
	        "torch.Tensor.sort", "torch.cummax", "torch.mode",     "torch.Tensor.max",
	        "torch.max",         "torch.min",    "torch.median"};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		const struct api_entry *entry = find(pairs[i]);

		ck_assert_msg(entry != NULL, "%s", pairs[i]);
		ck_assert_int_eq(entry->count, 2);
		ck_assert_msg(!api_is_clean(entry, 0), "%s", pairs[i]);
		ck_assert_msg(api_is_clean(entry, 1), "%s", pairs[i]);
	}
	ck_assert(api_has(find("torch.max"), API_TUPLE_IF_DIM));
	ck_assert(!api_has(find("torch.topk"), API_TUPLE_IF_DIM));
	expect("torch.return_types.max.indices", API_FIELD);
	ck_assert_str_eq(api_result_class(find("torch.topk")), "torch.return_types.topk");
}
END_TEST

START_TEST(what_looks_like_a_detach_keeps_the_graph)
{
	static const char *const casts[] = {"cpu",  "cuda", "to",       "float",     "double",
	                                    "half", "type", "bfloat16", "contiguous"};

	for (size_t i = 0; i < sizeof(casts) / sizeof(casts[0]); i++) {
		const struct api_entry *entry = method("torch.Tensor", casts[i]);

		ck_assert_ptr_nonnull(entry);
		ck_assert_msg(entry->effect == API_ALIASES && api_has(entry, API_MAYBE), "%s",
		              casts[i]);
	}
	expect("torch.Tensor.clone", API_PASSES);
	expect("torch.distributed.nn.all_reduce", API_PASSES);
	expect("torch.Tensor.zero_", API_IN_PLACE);
	expect("torch.Tensor.div_", API_IN_PLACE);
	expect("torch.Tensor.round", API_PASSES);
	expect("torch.Tensor.__floordiv__", API_PASSES);
}
END_TEST

START_TEST(makers_have_no_graph)
{
	static const char *const makers[] = {
	        "torch.zeros", "torch.ones", "torch.randn",  "torch.rand",   "torch.empty",
	        "torch.eye",   "torch.full", "torch.arange", "torch.tensor", "torch.randint",
	};

	for (size_t i = 0; i < sizeof(makers) / sizeof(makers[0]); i++)
		expect(makers[i], API_MAKES);
	ck_assert(api_has(find("torch.zeros"), API_LEAF));
	expect("torch.where", API_PASSES);
	expect("torch.einsum", API_PASSES);
	expect("torch.nn.functional.dropout", API_PASSES);
	ck_assert(api_has(find("torch.nn.functional.dropout"), API_EVAL_SAME));
	expect("torch.long", API_NONE);
}
END_TEST

START_TEST(detaching_names)
{
	expect("torch.Tensor.detach", API_CUTS_VIEW);
	expect("torch.Tensor.data", API_CUTS_VIEW);
	expect("torch.Tensor.detach_", API_CUTS_IN_PLACE);
	ck_assert(api_has(find("torch.Tensor.data"), API_PROPERTY));
	ck_assert(!api_has(find("torch.Tensor.detach"), API_PROPERTY));
}
END_TEST

START_TEST(modes)
{
	static const struct {
		const char *name;
		enum api_mode mode;
	} rows[] = {
	        {"torch.no_grad", API_MODE_OFF},
	        {"torch.autograd.no_grad", API_MODE_OFF},
	        {"torch.autograd.grad_mode.no_grad", API_MODE_OFF},
	        {"torch.enable_grad", API_MODE_ON},
	        {"torch.inference_mode", API_MODE_INFERENCE},
	        {"torch.set_grad_enabled", API_MODE_ARGUMENT},
	        {"torch::NoGradGuard", API_MODE_OFF},
	        {"at::NoGradGuard", API_MODE_OFF},
	        {"c10::InferenceMode", API_MODE_INFERENCE},
	        {"torch::AutoGradMode", API_MODE_ARGUMENT},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		expect(rows[i].name, API_MODE);
		ck_assert_int_eq(api_mode_of(find(rows[i].name)), rows[i].mode);
	}
}
END_TEST

START_TEST(methods_are_inherited)
{
	ck_assert_str_eq(api_name(method("torch.nn.Linear", "parameters")),
	                 "torch.nn.Module.parameters");
	ck_assert_str_eq(api_name(method("torch.nn.modules.linear.Linear", "eval")),
	                 "torch.nn.Module.eval");
	ck_assert_str_eq(api_name(method("torch.optim.adam.Adam", "step")),
	                 "torch.optim.Optimizer.step");
	ck_assert_str_eq(api_name(method("torch.nn.Parameter", "backward")),
	                 "torch.Tensor.backward");
	ck_assert_str_eq(api_name(method("collections.defaultdict", "setdefault")),
	                 "dict.setdefault");
	ck_assert_str_eq(api_name(find("torch.nn.Linear.parameters")),
	                 "torch.nn.Module.parameters");
	ck_assert_ptr_null(method("torch.nn.Linear", "no_such_method"));
	ck_assert_ptr_null(method("no.such.Class", "append"));
	ck_assert(api_is_a("torch.nn.Linear", strlen("torch.nn.Linear"), "torch.nn.Module"));
	ck_assert(!api_is_a("torch.nn.Linear", strlen("torch.nn.Linear"), "torch.Tensor"));
}
END_TEST

START_TEST(cpp_spellings)
{
	static const char *const same[][2] = {
	        {"at::Tensor::add_", "torch.Tensor.add_"},
	        {"torch::relu", "torch.relu"},
	        {"at::mse_loss", "torch.nn.functional.mse_loss"},
	        {"::torch::cat", "torch.cat"},
	        {"at::TensorBase::numel", "torch.Tensor.numel"},
	        {"torch::nn::LinearImpl::parameters", "torch.nn.Module.parameters"},
	        {"at::Tensor::item<float>", "torch.Tensor.item"},
	        {"torch::autograd::AutogradContext::save_for_backward",
	         "torch.autograd.function.FunctionCtx.save_for_backward"},
	};

	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		ck_assert_msg(find(same[i][0]) != NULL, "%s", same[i][0]);
		ck_assert_str_eq(api_name(find(same[i][0])), same[i][1]);
	}
	ck_assert_str_eq(api_name(method("std::vector<at::Tensor>", "push_back")),
	                 "list.push_back");
}
END_TEST

START_TEST(containers)
{
	expect("list.append", API_STORES);
	expect("collections.deque.appendleft", API_STORES);
	expect("dict.update", API_STORES);
	expect("heapq.heappush", API_STORES);
	expect("list.clear", API_REMOVES);
	ck_assert(api_has(find("list.clear"), API_ALL));
	ck_assert(!api_has(find("list.pop"), API_ALL));
	ck_assert(api_has(find("list.extend"), API_EACH));
	ck_assert(api_has(find("dict.setdefault"), API_KEYED));
	ck_assert(api_has(find("builtins.setattr"), API_ATTRIBUTE));
	ck_assert(api_has(find("torch.nn.Module.register_buffer"), API_BUFFER));
	expect("copy.deepcopy", API_COPIES);
	expect("builtins.sum", API_PASSES);
	expect("functools.lru_cache", API_CACHES);
	expect("gc.collect", API_FLUSH);
}
END_TEST

START_TEST(loggers_are_no_containers)
{
	static const char *const quiet[] = {
	        "wandb.log", "torch.utils.tensorboard.SummaryWriter.add_scalar",
	        "tqdm.tqdm.set_postfix", "mlflow.log_metric", "builtins.print"};

	for (size_t i = 0; i < sizeof(quiet) / sizeof(quiet[0]); i++)
		expect(quiet[i], API_NONE);
}
END_TEST

static const struct api_hook_mode *hook(const char *class, const char *name)
{
	return api_framework_method(class, strlen(class), name, strlen(name));
}

START_TEST(frameworks_set_the_mode)
{
	const struct api_hook_mode *row =
	        hook("pytorch_lightning.LightningModule", "validation_step");

	ck_assert_ptr_nonnull(row);
	ck_assert_int_eq(row->mode, API_MODE_OFF);
	row = hook("lightning.LightningModule", "training_step");
	ck_assert_int_eq(row->mode, API_MODE_ON);
	ck_assert_int_eq(row->need, API_NEED_RESULT);
	ck_assert_int_eq(hook("lightning.pytorch.Callback", "on_train_batch_end")->mode,
	                 API_MODE_ON);
	ck_assert_int_eq(hook("lightning.pytorch.callbacks.ModelCheckpoint", "on_test_end")->mode,
	                 API_MODE_OFF);
	ck_assert_int_eq(hook("transformers.Seq2SeqTrainer", "training_step")->need,
	                 API_NEED_KEEPS);
	ck_assert_int_eq(hook("transformers.Trainer", "compute_loss")->need, API_NEED_RESULT);
	ck_assert_int_eq(hook("torchmetrics.Metric", "update")->mode, API_MODE_OFF);
	ck_assert_ptr_null(hook("torch.nn.Module", "training_step"));
	ck_assert_ptr_null(hook("lightning.LightningModule", "forward"));
}
END_TEST

START_TEST(frameworks_calls)
{
	expect("accelerate.Accelerator.backward", API_BACKWARD);
	ck_assert_uint_eq(api_arg(find("accelerate.Accelerator.backward")), 1);
	ck_assert(api_has(find("accelerate.Accelerator.prepare"), API_TRANSPARENT));
	/* on one process it returns its argument, graph and all */
	expect("accelerate.Accelerator.gather", API_ALIASES);
	expect("pytorch_lightning.LightningModule.log", API_NONE);
	expect("transformers.GPT2LMHeadModel.generate", API_CUTS);
	expect("torch.amp.GradScaler.scale", API_PASSES);
	expect("torch.cuda.amp.GradScaler.step", API_STEP);
	expect("torch.nn.parallel.DistributedDataParallel", API_MODULE);
	ck_assert(api_has(find("torch.nn.DataParallel"), API_TRANSPARENT));
	expect("torchmetrics.classification.BinaryAUROC.update", API_STORES);
	expect("torchmetrics.MeanMetric.update", API_NONE);
	expect("torchvision.utils.make_grid", API_CUTS);
}
END_TEST

START_TEST(patterns_cover_whole_packages)
{
	expect("cv2.dnn.blobFromImage", API_NUMBER);
	expect("torchvision.models.resnet.resnet50", API_MODULE);
	expect("transformers.LlamaForCausalLM.from_pretrained", API_MODULE);
	expect("transformers.LlamaTokenizerFast.from_pretrained", API_NONE);
	expect("transformers.models.bert.BertModel", API_MODULE);
	ck_assert_str_eq(api_result_class(find("transformers.BertModel")),
	                 "transformers.PreTrainedModel");
	ck_assert(api_is_a("transformers.T5Model", strlen("transformers.T5Model"),
	                   "torch.nn.Module"));
	ck_assert_ptr_null(find("mypackage.models.resnet50"));
	ck_assert_ptr_null(find("torch.no_such_function"));
}
END_TEST

START_TEST(odd_names_are_unknown)
{
	char longer[600];
	char room[8];

	memset(longer, 'a', sizeof(longer));
	ck_assert_ptr_null(api_find(longer, sizeof(longer)));
	ck_assert_ptr_null(api_find("", 0));
	ck_assert_ptr_null(api_find(".", 1));
	ck_assert_ptr_null(api_find("::", 2));
	ck_assert_ptr_null(api_find("torch\0relu", 10));
	ck_assert_ptr_null(api_method("torch.Tensor", 12, "add_\0", 5));
	ck_assert_ptr_null(
	        api_framework_method("lightning.LightningModule", 25, "test_step\0", 10));
	ck_assert_uint_eq(api_canonical("torch\0", 6, longer, sizeof(longer)), 6);
	ck_assert_ptr_null(api_find("<<<", 3));
	ck_assert_ptr_null(api_find(">", 1));
	ck_assert_ptr_null(api_method("", 0, "", 0));
	ck_assert_ptr_null(api_class_find(longer, sizeof(longer)));
	ck_assert_uint_eq(api_canonical("torch.relu", 10, room, sizeof(room)), 0);
	ck_assert_uint_eq(api_canonical("at.x", 4, room, sizeof(room)), 7);
	ck_assert_str_eq(room, "torch.x");
	ck_assert_uint_eq(api_canonical("at.xy", 5, room, sizeof(room)), 0);
}
END_TEST

Suite *torch_api_suite(void);

Suite *torch_api_suite(void)
{
	Suite *suite = suite_create("torch_api");
	TCase *tcase = tcase_create("tables");

	tcase_add_test(tcase, tables_are_sorted_and_unique);
	tcase_add_test(tcase, hooks_are_sorted_and_unique);
	tcase_add_test(tcase, every_row_is_found_and_named);
	tcase_add_test(tcase, every_class_has_its_base);
	tcase_add_test(tcase, every_result_class_is_a_class);
	tcase_add_loop_test(tcase, comparisons_and_indices_have_no_graph, 0,
	                    (int)(sizeof(without_graph) / sizeof(without_graph[0])));
	tcase_add_loop_test(tcase, numbers_have_no_graph, 0,
	                    (int)(sizeof(numbers) / sizeof(numbers[0])));
	tcase_add_test(tcase, tuples_know_their_clean_elements);
	tcase_add_test(tcase, what_looks_like_a_detach_keeps_the_graph);
	tcase_add_test(tcase, makers_have_no_graph);
	tcase_add_test(tcase, detaching_names);
	tcase_add_test(tcase, modes);
	tcase_add_test(tcase, methods_are_inherited);
	tcase_add_test(tcase, cpp_spellings);
	tcase_add_test(tcase, containers);
	tcase_add_test(tcase, loggers_are_no_containers);
	tcase_add_test(tcase, frameworks_set_the_mode);
	tcase_add_test(tcase, frameworks_calls);
	tcase_add_test(tcase, patterns_cover_whole_packages);
	tcase_add_test(tcase, odd_names_are_unknown);
	suite_add_tcase(suite, tcase);
	return suite;
}
